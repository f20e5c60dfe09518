import { on } from 'node:events'
import { scriptPath } from '../script-path.ts'
import type { StackName } from './cases.ts'
import type { Arrival, EndReply, EndRequest } from './end.ts'
import type { Address, Link, LinkEnd } from '../link/link.ts'
import type { ChildProcess } from 'node:child_process'

export interface EndProcess {
  listen(host: string): Promise<Address>
  dial(address: Address, noDelay: boolean): Promise<void>

  /**
   * Resolves to the time of each write.
   */
  write(messages: number, spacing: number): Promise<number[]>
  close(): Promise<void>

  /**
   * Resolves to the next arrivals, once they are so many bytes together. Rejects
   * after a timeout in milliseconds.
   */
  arrival(bytes: number, timeout: number): Promise<Arrival[]>
}

type Reply<T extends EndReply['type']> = Extract<EndReply, { type: T }>

/**
 * Starts a process of one stack at one end of a link, which ends with the link.
 * It is asked one thing at a time.
 */
export async function startEnd (link: Link, end: LinkEnd, stack: StackName): Promise<EndProcess> {
  const child = link.run(end, scriptPath(import.meta.url, 'end'), [stack])
  let waiting = Promise.withResolvers<EndReply>()

  child.on('message', (message: EndReply | Arrival) => {
    if (message.type === 'failed') {
      waiting.reject(new Error(`${stack} ${end}: ${message.reason}`))
    } else if (message.type !== 'arrived') {
      waiting.resolve(message)
    }
  })
  // nobody may be waiting when it ends
  waiting.promise.catch(() => {})
  child.once('error', err => { waiting.reject(err) })
  child.once('exit', (code, signal) => { waiting.reject(new Error(`${stack} ${end} ended with ${signal ?? `code ${code}`}`)) })

  async function ask <T extends EndReply['type']> (request: EndRequest): Promise<Reply<T>> {
    waiting = Promise.withResolvers<EndReply>()
    waiting.promise.catch(() => {})
    child.send(request, err => {
      if (err != null) {
        waiting.reject(err)
      }
    })

    return waiting.promise as Promise<Reply<T>>
  }

  await waiting.promise

  return {
    arrival: async (bytes, timeout) => arrival(child, bytes, timeout).catch(err => {
      throw new Error(`${stack} ${end}: ${bytes} bytes did not arrive within ${timeout} ms`, { cause: err })
    }),
    listen: async host => (await ask<'listening'>({ type: 'listen', host })).address,
    dial: async (address, noDelay) => { await ask({ type: 'dial', address, noDelay }) },
    write: async (messages, spacing) => (await ask<'written'>({ type: 'write', messages, spacing })).times,
    close: async () => { await ask({ type: 'close' }) }
  }
}

async function arrival (child: ChildProcess, bytes: number, timeout: number): Promise<Arrival[]> {
  const arrivals: Arrival[] = []
  let arrived = 0

  for await (const [message] of on(child, 'message', { signal: AbortSignal.timeout(timeout) })) {
    if (message.type === 'arrived') {
      arrivals.push(message)
      arrived += message.bytes
    }

    if (arrived >= bytes) {
      break
    }
  }

  return arrivals
}
