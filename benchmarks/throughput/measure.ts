import { setTimeout as wait } from 'node:timers/promises'
import { ENDS, each, endBoth, startEnds } from '../../test/lab/process/ends.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { sum } from '../../test/lab/statistics.ts'
import type { IdleRow, Row, TimedRow } from './rows/row.ts'
import type { ThroughputTasks } from './worker.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'
import type { Ends } from '../../test/lab/process/ends.ts'

export interface Measuring {
  /** How long new processes work before they are measured, in ms: until code is compiled and buffers have grown */
  warmUp: number

  /** For how long they are measured, in ms */
  target: number

  /** Each end on a core of its own */
  pinned: boolean

  /** Of the Node of both ends */
  nodeOptions: string[]
}

/** How much is opened and left open before memory is looked at, so that what is made once is made */
const OPEN_BEFORE = 100

/** Timers of dials and streams hold memory for a while, in ms */
const SETTLE = 1_000

/** One sample of a rival in a row, of two processes that are new. */
export async function measure ({ level, name }: Contender, row: Row, measuring: Measuring): Promise<Measurements> {
  const ends = await startEnds<ThroughputTasks>(end => ({
    script: scriptPath(import.meta.url, 'worker'),
    args: [level, name, row.name],
    name: `${row.name}, ${name}, ${level} level, ${end}`,
    execArgv: [...measuring.nodeOptions, ...'idle' in row ? ['--expose-gc'] : []]
  }), measuring.pinned)

  try {
    await ends.dialer.ask('connect', await ends.listener.ask('listen'))

    return await ('idle' in row ? memoryOf(ends, row) : timesOf(ends, row, measuring))
  } finally {
    await endBoth(ends)
  }
}

/** The time of an operation, and the processor time of both ends */
async function timesOf (ends: Ends<ThroughputTasks>, { watchesLoop = false }: TimedRow, { warmUp, target }: Measuring): Promise<Measurements> {
  await ends.dialer.ask('run', warmUp)
  await each(ends, async end => end.ask('costStart', watchesLoop))
  const { operations, milliseconds } = await ends.dialer.ask('run', target)
  const costs = Object.values(await each(ends, async end => end.ask('costEnd')))
  const delays = watchesLoop ? Object.values(await each(ends, async end => end.ask('loopDelay'))) : []

  return [
    { metric: 'CPU', unit: 'us/op', value: sum(costs.map(({ user, system }) => user + system)) / operations },
    { metric: 'time', unit: 'us/op', value: milliseconds * 1_000 / operations },
    ...watchesLoop ? [{ metric: 'loop p99', unit: 'ms', value: Math.max(...delays.map(({ p99 }) => p99)) }] : []
  ]
}

/** What one of many takes at each end, in the heap and in buffers outside of it */
async function memoryOf (ends: Ends<ThroughputTasks>, { idle }: IdleRow): Promise<Measurements> {
  await ends.dialer.ask('open', OPEN_BEFORE)
  await wait(SETTLE)
  const before = await each(ends, async end => end.ask('memoryInUse'))
  await ends.dialer.ask('open', idle)
  await wait(SETTLE)
  const after = await each(ends, async end => end.ask('memoryInUse'))

  return ENDS.map(end => ({
    metric: end,
    unit: 'B',
    value: (after[end].heap + after[end].external - before[end].heap - before[end].external) / idle
  }))
}
