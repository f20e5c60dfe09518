import { setTimeout as delay } from 'node:timers/promises'
import { KiB, MiB, payload, sendPolitely, readToEnd } from '../../fixtures/bytes.ts'
import { createNode, ECHO } from '../../fixtures/node.ts'
import { until, within } from '../../fixtures/waiting.ts'
import { heapAfterGC } from './heap.ts'
import type { TestNode } from '../../fixtures/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Stream } from '@libp2p/interface'

/** How long one run lasts, in ms */
const RUN = 60_000

/**
 * What the heap may have grown by since the end of the first run, in which the caches fill. Of 20 MiB it is half a MiB more or less from
 * run to run.
 */
const MAX_GROWTH = 2 * MiB

export const soak: Scenario = {
  name: 'two libp2p nodes for a minute a run: dials, streams, megabytes, aborts and silence',
  runs: 5,
  timeout: 120_000,
  async prepare ({ defer, random }) {
    // what libp2p takes to note the addresses of a node, also of one that has stopped
    defer(async () => delay(1_000))

    const listener = await createNode(defer, { listen: true })
    const dialer = await createNode(defer)
    let heapAfterWarmUp = 0

    return async ({ index, injected, measured }) => {
      const end = performance.now() + RUN

      while (performance.now() < end) {
        injected(await mixed(dialer, listener, random))
      }

      await dialer.hangUp(listener.peerId)
      await until(() => listener.getConnections().length === 0, 'both nodes are without a connection')
      await delay(1_000)

      const heap = await heapAfterGC()

      if (index === 0) {
        heapAfterWarmUp = heap
        return
      }

      measured('KiB of heap more', (heap - heapAfterWarmUp) / KiB)

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
