import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { directory, listOf, numberFrom, oneOf, wholeFrom } from '../lab/arguments.ts'
import { installedVersions } from '../lab/peers/versions.ts'
import { seededRandom, shuffled } from '../lab/process/random.ts'
import { say } from '../lab/process/say.ts'
import { environment } from '../lab/report/environment.ts'
import { writeReport } from '../lab/report/page.ts'
import { sum } from '../lab/statistics.ts'
import { runCells } from '../lab/suite/run-cells.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { report } from './report.ts'
import { isKept, runScenario } from './run-scenario.ts'
import { suites } from './suites.ts'
import type { Results } from './report.ts'
import type { Outcome, Scenario, Suite, TransportName } from './scenario.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

/*
 * Does to a transport what networks, peers and operating systems do to it, and
 * checks what it promises.
 */

interface Flags {
  suite?: string[]
  scenario?: string
  transports: TransportName[]
  sample?: number
  scale: number
  officialScale?: number
  seed: number
  out?: string
  keep?: boolean
}

const TRANSPORTS: TransportName[] = ['ours', 'linux', 'fast-open', 'reuse-port', 'official']

await runSuite(new Command('test:fault')
  .option('--suite <names>', 'only these suites', listOf(name => name))
  .option('--scenario <names>', 'only the scenario with this name, or those with one of these in their name')
  .option('--transports <names>', TRANSPORTS.join(), listOf(oneOf(TRANSPORTS)), ['ours'])
  .option('--sample <n>', 'only so many scenarios of each suite, chosen by the seed', wholeFrom(1))
  .option('--scale <factor>', 'this many times as many runs', numberFrom(0), 1)
  .option('--official-scale <factor>', 'the same for @libp2p/tcp, which takes longer where it fails', numberFrom(0))
  .option('--seed <number>', 'makes a run again', wholeFrom(0), Date.now() % 2 ** 32)
  .option('--out <directory>', 'where to write RESULTS.md and results.json', directory)
  .option('--keep', 'what the directory holds and is not run again stays'), main)

async function main ({ suite: names, scenario: wanted, transports, sample, scale, officialScale, seed, out, keep }: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  const all = await suites()
  const { commit } = environment(command)
  const random = seededRandom(seed)
  const earlier = out != null && keep === true ? await earlierOutcomes(out) : []
  const possible = await thoseThatRunHere(all.filter(({ name }) => names?.includes(name) ?? true))

  say(`seed ${seed}`)

  const outcomes = await runCells(possible.flatMap(suite => sampleOf(named(suite.scenarios, wanted), sample, random).flatMap(scenario => transports
    .filter(name => scenario.transports?.includes(name === 'official' ? name : 'ours') ?? true)
    .map(transport => ({
      name: `${suite.name}: ${scenario.name}, ${transport}`,
      again: again({ suite: suite.name, scenario: scenario.name, transports: transport }),
      async run (): Promise<Outcome> {
        const factor = transport === 'official' ? officialScale ?? scale : scale

        return { ...await runScenario(suite, scenario, transport, seed, Math.max(1, Math.round(scenario.runs * factor)), signal), commit }
      }
    })))), signal, outcome => ({
    summary: `${isKept(outcome) ? 'kept' : 'BROKEN'}, ${outcome.kept} of ${outcome.runs}, ${outcome.faults} faults`,
    complaints: [...Object.entries(outcome.broken).map(([what, times]) => `${times} x ${what}`), ...outcome.unhealthy]
  }))

  if (out != null) {
    const results: Results = {
      environment: environment(command),
      versions: { js: installedVersions(['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/yamux']) },
      outcomes: [...earlier.filter(old => !outcomes.some(outcome => isSame(old, outcome))), ...outcomes]
    }

    await writeReport(out, results, results => report(all, results))
  }

  const ours = outcomes.filter(({ transport }) => transport !== 'official')

  say(`${sum(ours.map(({ faults }) => faults))} faults injected, ${sum(ours.map(({ kept }) => kept))} of ${sum(ours.map(({ runs }) => runs))} runs kept the promise, ${sum(ours.map(({ unhealthy }) => unhealthy.length))} crashes, hangs and warnings`)

  return ours.filter(outcome => !isKept(outcome)).map(({ suite, scenario, transport, kept, runs }) => `BROKEN ${suite}: ${scenario}, ${transport}: ${kept} of ${runs}`)
}

async function thoseThatRunHere (suites: Suite[]): Promise<Suite[]> {
  const possible: Suite[] = []

  for (const suite of suites) {
    const missing = await suite.missing?.()

    if (missing == null) {
      possible.push(suite)
    } else if (process.env.CI == null) {
      say(`SKIPPED ${suite.name}: ${missing}`)
    } else {
      throw new Error(`${suite.name} cannot be run, and this is CI: ${missing}`)
    }
  }

  return possible
}

/** A name may have commas */
function named (scenarios: Scenario[], wanted = ''): Scenario[] {
  const exact = scenarios.filter(({ name }) => name === wanted)

  return exact.length > 0 ? exact : scenarios.filter(({ name }) => wanted.split(',').some(part => name.includes(part.trim())))
}

/**
 * In the order of the suite. What takes minutes even once has no place in a sample.
 */
function sampleOf (scenarios: Scenario[], size: number | undefined, random: () => number): Scenario[] {
  if (size == null) {
    return scenarios
  }

  const chosen = shuffled(scenarios.filter(({ takesMinutes }) => takesMinutes !== true), random).slice(0, size)

  return scenarios.filter(scenario => chosen.includes(scenario))
}

async function earlierOutcomes (directory: string): Promise<Outcome[]> {
  const file = path.join(directory, 'results.json')
  const { outcomes }: Pick<Results, 'outcomes'> = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : { outcomes: [] }

  return outcomes
}

function isSame (one: Outcome, other: Outcome): boolean {
  return one.transport === other.transport && one.suite === other.suite && one.scenario === other.scenario
}
