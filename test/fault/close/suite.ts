import { KiB, MiB, payload, sendAll, tally } from '../../fixtures/bytes.ts'
import { readSlowly } from '../../fixtures/peers.ts'
import { openSockets, until, within } from '../../fixtures/waiting.ts'
import { expectSame } from '../expect-same.ts'
import { connecting } from './connect.ts'
import type { SlowReading } from '../../fixtures/peers.ts'
import type { Context, Run, Scenario, Suite } from '../scenario.ts'

/** The slowest reader of 3 MiB needs 61 s, and all go on at the same time */
const PATIENCE = 150_000

/** And that of 16 MiB five and a half minutes */
const LONG_PATIENCE = 600_000

export const closeUnderLoad: Suite = {
  name: 'close',
  promise: 'Everything that was sent right before `close()` arrives at a reader that is slow, and `close()` resolves',
  scenarios: [
    // at 100 ms a read, so that the timers cost nothing
    scenario('3 MiB to a reader of 50 KiB/s', 3 * MiB, { bytes: 5 * KiB, every: 100 }),
    // one batch: a second one would take as long again
    { ...scenario('16 MiB to a reader of 50 KiB/s', 16 * MiB, { bytes: 5 * KiB, every: 100 }, LONG_PATIENCE), runs: 50, takesMinutes: true },
    ...[3, 16].flatMap(size => [
      scenario(`${size} MiB to a reader of 1 MiB/s`, size * MiB, { bytes: 64 * KiB, every: 62.5 }),
      scenario(`${size} MiB to a reader that answers every 300 ms`, size * MiB, { replyEvery: 300 }),
      scenario(`${size} MiB to a silent reader`, size * MiB, {}),
      scenario(`${size} MiB to a reader that pauses for 2 s, then answers every 300 ms`, size * MiB, { pauseFor: 2_000, replyEvery: 300 })
    ])
  ]
}

function scenario (name: string, size: number, reading: SlowReading, patience = PATIENCE): Scenario {
  return {
    name,
    runs: 100,
    // the kernel's buffers of all connections have to fit into its memory
    concurrency: size > 3 * MiB ? 50 : 100,
    timeout: patience,
    prepare: async context => prepare(context, size, reading, patience)
  }
}

async function prepare ({ defer }: Context, size: number, reading: SlowReading, patience: number): Promise<(run: Run) => Promise<void>> {
  const data = payload(size)
  const sent = tally(data)

  defer(async () => until(() => openSockets() === 0, 'no socket is left'))

  const connect = await connecting(defer)

  return async ({ index, injected, measured }) => {
    const [conn, socket] = await connect(index)
    const received = readSlowly(socket, reading)
    const start = performance.now()

    injected()
    sendAll(conn, data)
    await within(patience, 'close()', conn.close())
    measured('close() s', (performance.now() - start) / 1_000)

    expectSame('At the reader', await within(patience, 'The reader', received), sent)
    measured('read s', (performance.now() - start) / 1_000)
  }
}
