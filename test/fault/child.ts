/*
 * Runs one scenario against one transport, in a process that it may bring down: `child.ts <suite> <scenario> <seed> <runs>`. Prints a line
 * for every run.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cleaningUp } from '../fixtures/cleanup.ts'
import { tell } from '../lab/process/lines.ts'
import { seededRandom } from '../lab/process/random.ts'
import { suites } from './suites.ts'
import type { Scenario, Told } from './scenario.ts'

/**
 * How long a process may live on when everything in it is done, in ms. One of them libp2p takes for itself: a node that has stopped still
 * waits a second to look at its addresses (`debounce` in its address manager).
 */
const EXIT_TIMEOUT = 2_000

const [suiteName, scenarioName, seed, runs] = process.argv.slice(2)
const scenario = suites.find(({ name }) => name === suiteName)?.scenarios.find(({ name }) => name === scenarioName)

if (scenario == null) {
  throw new Error(`There is no scenario ${suiteName}: ${scenarioName}`)
}

process.on('unhandledRejection', reason => { unhealthy(`unhandledRejection: ${String(reason)}`) })
process.on('uncaughtException', err => { unhealthy(`uncaughtException: ${err.stack ?? err.message}`) })
process.on('warning', warning => {
  if (warning.name !== 'ExperimentalWarning') {
    unhealthy(`${warning.name}: ${warning.message}`)
  }
})

// the end of a pipe that closes when our parent dies; it keeps nothing alive: what waits for something that never comes has to end
process.stdin.once('end', () => process.exit()).resume().unref()

await cleaningUp(async defer => {
  const total = Number(runs)
  const run = await scenario.prepare({ defer, runs: total, random: seededRandom(Number(seed)) })
  let next = 0

  await Promise.all(Array.from({ length: Math.min(total, scenario.concurrency ?? 1) }, async () => {
    while (next < total) {
      await once(run, next++)
    }
  }))
}).catch(err => { unhealthy(`outside of the runs: ${err.message}`) })

// what nobody caught is told of after this turn
await nextTurn()
tell({ type: 'done' } satisfies Told)
// nothing may keep this process alive now: this timer does not
setTimeout(() => { unhealthy(`did not end within ${EXIT_TIMEOUT} ms: ${process.getActiveResourcesInfo().join()}`) }, EXIT_TIMEOUT).unref()

async function once (run: Awaited<ReturnType<Scenario['prepare']>>, index: number): Promise<void> {
  const measured: Record<string, number> = {}
  let faults = 0
  let error: string | undefined
  const keep = (err: Error): void => { error ??= `${err.name}: ${err.message}` }

  await cleaningUp(async defer => run({
    index,
    defer,
    injected: (count = 1) => { faults += count },
    measured: (name, value) => { measured[name] = Math.max(measured[name] ?? -Infinity, value) }
  }).catch(keep)).catch(keep)

  tell({ type: 'run', error, faults, measured } satisfies Told)
}

function unhealthy (what: string): void {
  tell({ type: 'unhealthy', what } satisfies Told)
}
