import { setTimeout as delay } from 'node:timers/promises'
import { KiB, MiB, payload, sendPolitely, readToEnd } from '../../fixtures/bytes.ts'
import { createNode, ECHO } from '../../fixtures/node.ts'
import { until, within } from '../../fixtures/waiting.ts'
import { memoryAfterGC } from './heap.ts'
import { slope } from './slope.ts'
import type { TestNode } from '../../fixtures/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Sample } from './slope.ts'
import type { Stream } from '@libp2p/interface'

/** How long one run lasts, in ms */
const RUN = 60_000

/**
 * What the heap may have grown by since the end of the first run, in which the caches fill. Of 20 MiB it is half a MiB more or less from
 * run to run.
 */
const MAX_GROWTH = 2 * MiB

/** The resident set takes longer to settle: so many runs */
const RSS_WARM_UP = 10

/** Over less time, in runs, the slope of the resident set is noise */
const RUNS_FOR_SLOPE = 60

/** What the resident set may gain, in MiB an hour */
const MAX_SLOPE = 1

export const soak: Scenario = {
  name: 'two libp2p nodes for a minute a run: dials, streams, megabytes, aborts and silence',
  runs: 5,
  timeout: 120_000,
  // malloc then gives what is freed back to the system instead of keeping it, or the resident set shows what was once needed and not what
  // is
  env: { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: `${32 * KiB}`, MALLOC_TRIM_THRESHOLD_: `${64 * KiB}` },
  async prepare ({ defer, runs, random }) {
    // what libp2p takes to note the addresses of a node, also of one that has stopped
    defer(async () => delay(1_000))

    const listener = await createNode(defer, { listen: true })
    const dialer = await createNode(defer)
    const samples: Sample[] = []
    let heapAfterWarmUp = 0

    return async ({ index, injected, measured }) => {
      const end = performance.now() + RUN

      while (performance.now() < end) {
        injected(await mixed(dialer, listener, random))
      }

      await dialer.hangUp(listener.peerId)
      await until(() => listener.getConnections().length === 0, 'both nodes are without a connection')
      await delay(1_000)

      const { heapUsed: heap, rss } = await memoryAfterGC()

      if (index >= RSS_WARM_UP) {
        samples.push({ ms: performance.now(), bytes: rss })
      }

      if (index === 0) {
        heapAfterWarmUp = heap
        return
      }

      measured('KiB of heap more', (heap - heapAfterWarmUp) / KiB)
      measured('MiB of RSS', rss / MiB)

      if (index === runs - 1 && runs >= RUNS_FOR_SLOPE) {
        const mibAnHour = slope(samples) * 3_600_000 / MiB

        measured('MiB of RSS more', (rss - samples[0].bytes) / MiB)
        measured('RSS slope in MiB an hour', mibAnHour)

        if (mibAnHour > MAX_SLOPE) {
          throw new Error(`the resident set gains ${mibAnHour} MiB an hour`)
        }
      }

      if (heap - heapAfterWarmUp > MAX_GROWTH) {
        throw new Error(`the heap grew by ${heap - heapAfterWarmUp} bytes`)
      }
    }
  }
}

/** Some of all that nodes do. Returns how much of it was brutal. */
async function mixed (dialer: TestNode, listener: TestNode, random: () => number): Promise<number> {
  const connection = await dialer.dial(listener.getMultiaddrs())
  const streams = await Promise.all(Array.from({ length: 1 + Math.floor(random() * 5) }, async () => connection.newStream(ECHO)))
  let aborted = 0

  await Promise.all(streams.map(async stream => {
    const bytes = Math.floor(random() ** 4 * MiB)

    if (random() < 0.1) {
      sendPolitely(stream, payload(bytes)).catch(() => {})
      await delay(random() * 10)
      stream.abort(new Error('enough'))
      aborted++
    } else {
      await within(30_000, 'an echo', echo(stream, bytes))
    }
  }))

  await delay(random() * 50)

  if (random() < 0.3) {
    connection.abort(new Error('enough'))
    aborted++
  } else if (random() < 0.5) {
    await connection.close()
  }

  return aborted
}

async function echo (stream: Stream, bytes: number): Promise<void> {
  const received = readToEnd(stream)

  await sendPolitely(stream, payload(bytes))
  await stream.close()

  if ((await received).bytes !== bytes) {
    throw new Error('an echo was cut short')
  }
}
