import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { endChild } from '../lab/process/end-child.ts'
import type { Message } from './child.ts'
import type { Outcome, Scenario, Suite, TransportName } from './scenario.ts'
import type { ChildProcess } from 'node:child_process'

/** When a process is ended that has done everything and lives on, in ms */
const LAST_RESORT = 5_000

/**
 * Runs a scenario in a process of its own, and ends that if it hangs or at the signal
 */
export async function runScenario (suite: Suite, scenario: Scenario, transport: TransportName, seed: number, runs: number, signal: AbortSignal): Promise<Outcome> {
  const child = startChild(suite, scenario, transport, seed, runs)
  const end = (): void => { void endChild(child) }

  signal.addEventListener('abort', end)

  try {
    return await outcomeOf(child, suite, scenario, transport, runs)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

function startChild (suite: Suite, scenario: Scenario, transport: TransportName, seed: number, runs: number): ChildProcess {
  return fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [suite.name, scenario.name, `${seed}`, `${runs}`], {
    env: { ...process.env, ...scenario.env, TRANSPORT: transport },
    execArgv: ['--expose-gc', '--no-warnings=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
}

async function outcomeOf (child: ChildProcess, suite: Suite, scenario: Scenario, transport: TransportName, runs: number): Promise<Outcome> {
  const begin = performance.now()
  const outcome: Outcome = { transport, suite: suite.name, scenario: scenario.name, runs, kept: 0, faults: 0, broken: {}, worst: {}, unhealthy: [], seconds: 0 }
  let isDone = false
  let watchdog = killAfter(scenario.timeout, `hung for ${scenario.timeout} ms`)

  function killAfter (ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => {
      outcome.unhealthy.push(what)
      // it takes its own children with it, if it still can
      void endChild(child)
    }, ms)
  }

  child.on('message', (message: Message) => {
    clearTimeout(watchdog)

    if (message.type === 'done') {
      isDone = true
      // it tells itself what keeps it alive, if it still can
      watchdog = killAfter(LAST_RESORT, `did not end within ${LAST_RESORT} ms`)
      return
    }

    watchdog = isDone ? killAfter(LAST_RESORT, 'had to be killed') : killAfter(scenario.timeout, `hung for ${scenario.timeout} ms`)

    if (message.type === 'unhealthy') {
      outcome.unhealthy.push(message.what)
      return
    }

    outcome.faults += message.faults

    for (const [name, value] of Object.entries(message.measured)) {
      outcome.worst[name] = Math.max(outcome.worst[name] ?? -Infinity, value)
    }

    if (message.error == null) {
      outcome.kept++
    } else {
      const kind = message.error.split('\n')[0].replaceAll(/\d[\d,.]*/g, 'N')
      outcome.broken[kind] = (outcome.broken[kind] ?? 0) + 1
    }
  })

  const [code, killedBy] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => { resolve([code, signal]) })
  }).finally(() => { clearTimeout(watchdog) })

  if (!isDone && outcome.unhealthy.length === 0) {
    outcome.unhealthy.push(`ended with ${code ?? killedBy}`)
  }

  outcome.seconds = (performance.now() - begin) / 1_000

  return outcome
}

/**
 * Whether every run kept the promise, in a process that behaved
 */
export function isKept ({ runs, kept, unhealthy }: Outcome): boolean {
  return kept === runs && unhealthy.length === 0
}
