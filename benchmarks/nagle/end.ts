import { endWithParent } from '../run/end-with-parent.ts'
import { openStack } from './stacks/stack.ts'
import { wallClock } from './wall-clock.ts'
import type { StackName } from './cases.ts'
import type { Channel } from './stacks/stack.ts'
import type { Address } from '../link/link.ts'

/**
 * A process at one end of a link: `end <stack>`. It listens or dials and notes
 * when it wrote or read, by the clock of the captures.
 */

export type EndRequest =
  { type: 'listen', host: string } |
  { type: 'dial', address: Address, noDelay: boolean } |
  { type: 'write', messages: number, spacing: number } |
  { type: 'close' }

export type EndReply =
  { type: 'ready' } |
  { type: 'listening', address: Address } |
  { type: 'dialled' } |
  { type: 'written', times: number[] } |
  { type: 'closing' } |
  { type: 'failed', reason: string }

/**
 * Sent unasked whenever bytes have arrived.
 */
export interface Arrival {
  type: 'arrived'
  remotePort: number
  bytes: number
  time: number
}

endWithParent()

const now = wallClock()
const stack = await openStack(process.argv[2] as StackName)
let channel: Channel | undefined

function post (message: EndReply | Arrival): void {
  if (process.connected) {
    process.send?.(message)
  }
}

/**
 * One byte at a time, in one tick where there is no space between them.
 */
async function write (messages: number, spacing: number): Promise<number[]> {
  const times: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()

  function writeOne (): void {
    times.push(now())
    channel?.send(Uint8Array.of(times.length))

    if (times.length === messages) {
      resolve()
    } else if (spacing > 0) {
      setTimeout(writeOne, spacing)
    } else {
      writeOne()
    }
  }

  writeOne()
  await promise

  return times
}

async function answer (request: EndRequest): Promise<EndReply> {
  if (request.type === 'listen') {
    const address = await stack.listen(request.host, (remotePort, bytes) => {
      post({ type: 'arrived', remotePort, bytes, time: now() })
    })

    return { type: 'listening', address }
  }

  if (request.type === 'dial') {
    channel = await stack.dial(request.address, request.noDelay)
    return { type: 'dialled' }
  }

  if (request.type === 'write') {
    return { type: 'written', times: await write(request.messages, request.spacing) }
  }

  channel?.close()
  return { type: 'closing' }
}

process.on('message', (request: EndRequest) => {
  answer(request).then(post, err => { post({ type: 'failed', reason: err.message }) })
})
post({ type: 'ready' })
