import { performance } from 'node:perf_hooks'
import { openPeer } from '../../test/lab/peers/registry.ts'
import { serve, tell } from '../../test/lab/process/serve.ts'
import type { Channel, Dialed } from '../../test/lab/peers/contender.ts'

/**
 * A process at one end of a link: `worker <contender>`. It listens or dials and
 * notes when it wrote or read, by the clock of the captures.
 */

/** Told unasked whenever bytes have arrived. */
export interface Arrival {
  type: 'arrived'
  bytes: number
  time: number
}

const now = wallClock()
const [name] = process.argv.slice(2)
let connection: Dialed | undefined
let channel: Channel | undefined

const tasks = {
  async listen (host: string): Promise<string> {
    const peer = await openPeer('connection', name)
    const [address] = await peer.listen([host], accepted => {
      accepted.onBytes = ({ byteLength }) => { tell({ type: 'arrived', bytes: byteLength, time: now() } satisfies Arrival) }
    })

    return address
  },

  async dial (address: string, noDelay: boolean): Promise<void> {
    const peer = await openPeer('connection', name, { noDelay })
    connection = await peer.dial(address)
    channel = await connection.open()
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

  /** Begins to close. */
  close (): void {
    connection?.close().catch(() => {})
  }
}

export type NagleTasks = typeof tasks

serve(tasks)

/**
 * Milliseconds since 1970 to a few microseconds: the clock of a packet capture,
 * and the same in every process of a machine. `Date.now()` has whole
 * milliseconds, and `performance.timeOrigin` was read before the process had
 * started up.
 */
function wallClock (): () => number {
  const before = Date.now()
  let tick = before

  // at most a millisecond
  while (tick === before) {
    tick = Date.now()
  }

  const offset = tick - performance.now()

  return () => performance.now() + offset
}
