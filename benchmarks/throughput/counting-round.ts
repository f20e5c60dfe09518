import { unlessStopping, withCleanUp } from '../../test/lab/process/interrupt.ts'
import { startPair } from './pair.ts'
import { WriteCalls } from './write-calls.ts'
import type { Pair } from './pair.ts'
import type { Row } from './rows/row.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Allocation } from '../../test/lab/measure/memory.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'

/** Room for so much garbage that none is collected meanwhile, in MiB */
const NURSERY = 256

const WARM_UP = 500

/**
 * What both ends allocate for an operation, without a collection in between. Tries
 * fewer operations than `most` where there was one.
 */
export async function countAllocations (contender: Contender, row: Row, most: number): Promise<Measurements> {
  const pair = await startPair(contender, row, {
    execArgv: () => ['--expose-gc', `--min-semi-space-size=${NURSERY}`, `--max-semi-space-size=${NURSERY}`]
  })

  try {
    await pair.dialer.ask('run', Math.min(most, WARM_UP))

    for (let operations = Math.min(most, WARM_UP); operations >= 1; operations = Math.floor(operations / 4)) {
      const measurements = await allocationsOf(pair, operations)

      if (measurements != null) {
        return measurements
      }
    }

    return []
  } finally {
    await pair.end()
  }
}

/** Undefined if garbage was collected. */
async function allocationsOf (pair: Pair, operations: number): Promise<Measurements | undefined> {
  const ends = [pair.dialer, pair.listener]

  async function allocationsDuring (work: () => Promise<unknown>): Promise<Allocation[]> {
    await Promise.all(ends.map(async end => end.ask('allocationStart')))
    await work()

    return Promise.all(ends.map(async end => end.ask('allocationEnd')))
  }

  // to be asked costs something too
  const asking = await allocationsDuring(async () => pair.dialer.ask('run', 1))
  const working = await allocationsDuring(async () => pair.dialer.ask('run', operations + 1))

  if (working.some(({ collections }) => collections > 0)) {
    return
  }

  const perOperation = (kind: 'allocated' | 'retained', memory: 'heap' | 'external'): number => working
    .map((allocation, index) => allocation[kind][memory] - asking[index][kind][memory])
    .reduce((sum, bytes) => sum + bytes, 0) / operations

  return [
    { metric: 'heap allocated', unit: 'B/op', value: perOperation('allocated', 'heap') },
    { metric: 'external allocated', unit: 'B/op', value: perOperation('allocated', 'external') },
    { metric: 'heap retained', unit: 'B/op', value: perOperation('retained', 'heap') },
    { metric: 'external retained', unit: 'B/op', value: perOperation('retained', 'external') }
  ]
}

/** How often both ends call the system to write to a TCP socket. */
export async function countWriteCalls (contender: Contender, row: Row, most: number): Promise<Measurements> {
  const operations = Math.min(most, WARM_UP)

  await unlessStopping()
  const calls = new WriteCalls()

  return withCleanUp(async () => calls.remove(), async () => {
    const pair = await startPair(contender, row, { under: end => calls.under(end) })

    try {
      await pair.dialer.ask('run', operations)
      const before = await calls.position()
      await pair.dialer.ask('run', operations)
      const after = await calls.position()

      return [{ metric: 'write calls', unit: '/op', value: await calls.count(before, after) / operations }]
    } finally {
      await pair.end()
    }
  })
}
