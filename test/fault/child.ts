/*
 * Runs one scenario against one transport, in a process that it may bring down:
 * `child.ts <suite> <scenario> <seed> <runs>`. Tells its parent of every run.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { endWithParent } from '../../benchmarks/run/end-with-parent.ts'
import { seededRandom } from '../../benchmarks/run/random.ts'
import { suites } from './suites.ts'
import type { Defer } from '../fixtures/cleanup.ts'

export type Message =
  { type: 'run', error?: string, faults: number, measured: Record<string, number> } |
  { type: 'unhealthy', what: string } |
  { type: 'done' }

/**
 * How long a process may live on when everything in it is done, in ms. One of them
 * libp2p takes for itself: a node that has stopped still waits a second to look at
 * its addresses (`debounce` in its address manager).
 */
const EXIT_TIMEOUT = 2_000

const [suiteName, scenarioName, seed, runs] = process.argv.slice(2)
const suite = (await suites()).find(({ name }) => name === suiteName)
const scenario = suite?.scenarios.find(({ name }) => name === scenarioName)

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

endWithParent()
// the channel keeps nothing alive: what waits for something that never comes has to end
process.channel?.unref()

const { defer, cleanUp } = cleanups()
const total = Number(runs)
const run = await scenario.prepare({ defer, runs: total, random: seededRandom(Number(seed)) })
let next = 0

await Promise.all(Array.from({ length: Math.min(total, scenario.concurrency ?? 1) }, async () => {
  while (next < total) {
    await once(next++)
  }
}))

try {
  await cleanUp()
} catch (err: any) {
  unhealthy(`afterwards: ${err.message}`)
}

// what nobody caught is told of after this turn
await nextTurn()
tell({ type: 'done' })
// nothing may keep this process alive now: this timer does not
setTimeout(() => {
  unhealthy(`did not end within ${EXIT_TIMEOUT} ms: ${process.getActiveResourcesInfo().join()}`)
  process.disconnect()
}, EXIT_TIMEOUT).unref()

async function once (index: number): Promise<void> {
  const { defer, cleanUp } = cleanups()
  const measured: Record<string, number> = {}
  let faults = 0
  let error: string | undefined

  try {
    await run({
      index,
      defer,
      injected: (count = 1) => { faults += count },
      measured: (name, value) => { measured[name] = Math.max(measured[name] ?? -Infinity, value) }
    })
  } catch (err: any) {
    error = `${err.name}: ${err.message}`
  }

  try {
    await cleanUp()
  } catch (err: any) {
    error ??= `${err.name}: ${err.message}`
  }

  tell({ type: 'run', error, faults, measured })
}

function cleanups (): { defer: Defer, cleanUp(): Promise<void> } {
  const tasks: Array<() => unknown> = []

  return {
    defer: task => { tasks.push(task) },
    // the rest is cleaned up also where one of them fails
    cleanUp: async () => {
      const failures: unknown[] = []

      for (const task of tasks.splice(0).reverse()) {
        try {
          await task()
        } catch (err) {
          failures.push(err)
        }
      }

      if (failures.length > 0) {
        throw failures[0]
      }
    }
  }
}

function unhealthy (what: string): void {
  tell({ type: 'unhealthy', what })
}

function tell (message: Message): void {
  process.send?.(message)
}
