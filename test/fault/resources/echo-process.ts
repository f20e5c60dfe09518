import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { runChild } from '../../fixtures/child.ts'
import { rawClient } from '../../fixtures/peers.ts'
import type { TCPOptions } from '../../../src/index.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { Socket } from 'node:net'

export interface Status {
  /** How many connections it has accepted */
  accepted: number

  /** How many it has now */
  open: number
  events: Record<string, number>
  errors: Record<string, number>
}

export interface EchoProcess {
  port: number
  status(): Promise<Status>
}

/** A listener in a process of its own that echoes */
export async function echoProcess (defer: Defer, init: TCPOptions = {}, under?: string[]): Promise<EchoProcess> {
  const child = runChild(defer, 'echo-listener.ts', [init], { under })
  const port: number = await child.says()
  const label = `127.0.0.1:${port}`

  // metrics are labelled with the address first
  const ofListener = (labels: Record<string, number>): Record<string, number> =>
    Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.slice(label.length + 1), value]))

  return {
    port,
    async status () {
      child.tell('status')

      const { accepted, open, events, errors } = await child.says()

      return { accepted, open: open[label] ?? 0, events: ofListener(events), errors: ofListener(errors) }
    }
  }
}

/** Whether what is sent comes back, before the connection closes or a second has passed */
export async function echoes (socket: Socket): Promise<boolean> {
  socket.write('anyone?')

  const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close'), delay(1_000, [], { ref: false })]).catch(() => [])

  return data?.toString() === 'anyone?'
}

/** How long it takes until a new connection is accepted and echoes, in ms */
export async function msUntilAccepting (defer: Defer, port: number, timeout: number): Promise<number> {
  const begin = performance.now()

  while (performance.now() - begin < timeout) {
    const socket = await rawClient(defer, port).catch(() => undefined)
    const isAccepting = socket != null && await echoes(socket)

    socket?.destroy()

    if (isAccepting) {
      return performance.now() - begin
    }

    await delay(10)
  }

  throw new Error('accepts nothing any more')
}
