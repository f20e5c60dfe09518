import { within } from '../fixtures/waiting.ts'
import type { Connection, MessageStream } from '@libp2p/interface'

/** How a connection or a stream ends */
export interface Ending {
  /** Resolves at its first 'close' */
  ended: Promise<void>

  /** How often it closed */
  times: number

  /** Whether it looked as if the remote had sent all that it wanted */
  isComplete: boolean
}

export function endingOf (connectionOrStream: Connection | MessageStream): Ending {
  // what they share
  const stream: Pick<MessageStream, 'addEventListener' | 'status'> = connectionOrStream
  const { promise, resolve } = Promise.withResolvers<void>()
  const ending: Ending = { ended: promise, times: 0, isComplete: false }

  stream.addEventListener('remoteCloseWrite', () => { ending.isComplete = true })
  stream.addEventListener('close', () => {
    ending.times++
    resolve()
  })

  if (stream.status !== 'open') {
    throw new Error(`It was ${stream.status} before anybody could listen`)
  }

  return ending
}

/**
 * @throws {Error} unless it ends in time, once, and not as if it were complete
 */
export async function expectCut (what: string, ending: Ending, timeout: number): Promise<void> {
  await within(timeout, `The end of ${what}`, ending.ended)

  // a second 'close' would come soon
  await new Promise(resolve => { setImmediate(resolve) })

  if (ending.times !== 1) {
    throw new Error(`${what} closed ${ending.times} times`)
  }

  if (ending.isComplete) {
    throw new Error(`${what} was cut and looked complete`)
  }
}
