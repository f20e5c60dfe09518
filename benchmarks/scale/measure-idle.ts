import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { ENDS, each } from '../../test/lab/process/ends.ts'
import { closeAll, openAll } from './ends.ts'
import type { ScaleEnds } from './ends.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Memory } from '../../test/lab/measure/memory.ts'
import type { End } from '../../test/lab/process/own-core.ts'

/** Connections that come and go before, so that what both ends make once is made */
const WARM_UP = 100

/** How long a dial or a connection may be held by what ended it, in ms */
const LINGER = 1_000

/** How often it is told how long connections have been idle, in ms */
const IDLE_INTERVAL = 1_000

/**
 * What connections hold that lie idle for `hold` ms, in processes whose memory
 * nothing larger has grown yet, and how many of them are gone by then. Every second
 * `onIdle` is told for how many ms they have been idle.
 */
export async function measureIdle (ends: ScaleEnds, addresses: string[], count: number, hold: number, onIdle: (milliseconds: number) => void): Promise<Measurements> {
  await openAll(ends, addresses, WARM_UP)
  await closeAll(ends)
  await wait(Math.min(hold, LINGER))
  const before = await inUse(ends)
  await openAll(ends, addresses, count)
  await lieIdle(hold, onIdle)
  const after = await inUse(ends)
  const left = await each(ends, async end => end.ask('connections'))
  await closeAll(ends)

  return [
    { metric: 'dropped', unit: 'connections', value: count - Math.min(left.dialer, left.listener) },
    ...ENDS.flatMap(end => (['heap', 'external', 'rss'] as const).map(memory => (
      { metric: `${memory} ${end}`, unit: 'B/connection', value: (after[end][memory] - before[end][memory]) / count }
    )))
  ]
}

async function lieIdle (hold: number, onIdle: (milliseconds: number) => void): Promise<void> {
  const started = performance.now()
  const timer = setInterval(() => { onIdle(performance.now() - started) }, IDLE_INTERVAL)

  try {
    await wait(hold)
  } finally {
    clearInterval(timer)
  }
}

async function inUse (ends: ScaleEnds): Promise<Record<End, Memory>> {
  return each(ends, async end => end.ask('memoryInUse'))
}
