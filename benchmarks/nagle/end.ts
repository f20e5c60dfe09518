import { serve, tell } from '../workers/serve.ts'
import { openStack } from './stacks/stack.ts'
import { wallClock } from './wall-clock.ts'
import type { StackName } from './cases.ts'
import type { Channel } from './stacks/stack.ts'
import type { Address } from '../link/link.ts'

/**
 * A process at one end of a link: `end <stack>`. It listens or dials and notes
 * when it wrote or read, by the clock of the captures.
 */

/**
 * Sent unasked whenever bytes have arrived.
 */
export interface Arrival {
  type: 'arrived'
  remotePort: number
  bytes: number
  time: number
}

const now = wallClock()
const stack = await openStack(process.argv[2] as StackName)
let channel: Channel | undefined

const tasks = {
  listen: async (host: string): Promise<Address> => stack.listen(host, (remotePort, bytes) => {
    const arrival: Arrival = { type: 'arrived', remotePort, bytes, time: now() }

    tell(arrival)
  }),

  async dial (address: Address, noDelay: boolean): Promise<void> {
    channel = await stack.dial(address, noDelay)
  },

  /**
   * One byte at a time, in one tick where there is no space between them.
   *
   * @returns when
   */
  async write (messages: number, spacing: number): Promise<number[]> {
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
  },

  close (): void {
    channel?.close()
  }
}

export type EndTasks = typeof tasks

serve(tasks)
