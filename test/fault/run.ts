import { access, constants, mkdir, readFile, writeFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../lab/arguments.ts'
import { seededRandom, shuffled } from '../lab/process/random.ts'
import { environment } from '../lab/report/environment.ts'
import { report } from './report.ts'
import { isKept, runScenario } from './run-scenario.ts'
import { suites } from './suites.ts'
import type { Outcome, Scenario, TransportName } from './scenario.ts'

/*
 * Does to a transport what networks, peers and operating systems do to it, and
 * checks what it promises.
 */

interface Flags {
  suite?: string[]
  scenario?: string[]
  transports: TransportName[]
  sample?: number
  scale: number
  officialScale?: number
  seed: number
  out?: string
  keep?: boolean
}

await new Command('test:fault')
  .option('--suite <names>', 'only these suites', listOf(name => name))
  .option('--scenario <names>', 'only scenarios with one of these in their name', listOf(name => name))
  .addOption(new Option('--transports <names>', 'ours, linux, fast-open, reuse-port, official').argParser(listOf(oneOf(['ours', 'linux', 'fast-open', 'reuse-port', 'official'] as const))).default(['ours'], 'ours'))
  .option('--sample <n>', 'only so many scenarios of each suite, chosen by the seed', wholeFrom(1))
  .option('--scale <factor>', 'this many times as many runs', numberFrom(0), 1)
  .option('--official-scale <factor>', 'the same for @libp2p/tcp, which takes longer where it fails', numberFrom(0))
  .option('--seed <number>', 'makes a run again', wholeFrom(0), Date.now() % 2 ** 32)
  .option('--out <directory>', 'where to write RESULTS.md and results.json')
  .option('--keep', 'what the directory holds and is not run again stays')
  .action(main)
  .parseAsync()

async function main ({ suite: names, scenario: scenarioNames, transports, sample, scale, officialScale, seed, out, keep }: Flags): Promise<void> {
  const all = await suites()
  const chosen = all.filter(({ name }) => names?.includes(name) ?? true)
  const outcomes: Outcome[] = []
  const random = seededRandom(seed)
  const { commit } = environment('')

  if (out != null) {
    await prepare(out)
  }

  const earlier = out != null && keep === true ? await earlierOutcomes(out) : []

  say(`seed ${seed}`)

  for (const suite of chosen) {
    const missing = await suite.missing?.()

    if (missing != null && process.env.CI != null) {
      throw new Error(`${suite.name} cannot be run, and this is CI: ${missing}`)
    } else if (missing != null) {
      say(`SKIPPED ${suite.name}: ${missing}`)
      continue
    }

    const named = suite.scenarios.filter(({ name }) => scenarioNames?.some(part => name.includes(part)) ?? true)

    for (const scenario of sample == null ? named : sampleOf(named, sample, random)) {
      for (const transport of transports.filter(name => scenario.transports?.includes(name === 'official' ? name : 'ours') ?? true)) {
        const factor = transport === 'official' ? officialScale ?? scale : scale
        const runs = Math.max(1, Math.round(scenario.runs * factor))
        const outcome = await runScenario(suite, scenario, transport, seed, runs)

        outcomes.push({ ...outcome, commit })
        say(`${isKept(outcome) ? 'kept  ' : 'BROKEN'} ${suite.name}: ${scenario.name}, ${transport}: ${outcome.kept} of ${runs}, ${outcome.faults} faults, ${outcome.seconds.toFixed(1)} s`)

        for (const what of [...Object.entries(outcome.broken).map(([what, times]) => `${times} x ${what}`), ...outcome.unhealthy]) {
          say(`       ${what}`)
        }
      }
    }
  }

  if (out != null) {
    const kept = earlier.filter(old => !outcomes.some(outcome => isSame(old, outcome)))
    const written = [...kept, ...outcomes]

    await writeFile(`${out}/RESULTS.md`, report(all.filter(({ name }) => written.some(({ suite }) => suite === name)), written, command({ suite: names, transports, sample, scale, officialScale, seed })))
    await writeFile(`${out}/results.json`, `${JSON.stringify({ seed, scale, officialScale, outcomes: written }, undefined, 1)}\n`)
  }

  const ours = outcomes.filter(({ transport }) => transport !== 'official')
  const broken = ours.filter(outcome => !isKept(outcome))

  say(`${sum(ours.map(({ faults }) => faults))} faults injected, ${sum(ours.map(({ kept }) => kept))} of ${sum(ours.map(({ runs }) => runs))} runs kept the promise, ${sum(ours.map(({ unhealthy }) => unhealthy.length))} crashes, hangs and warnings`)
  process.exitCode = broken.length > 0 ? 1 : 0
}

/**
 * In the order of the suite. What takes minutes even once has no place in a sample.
 */
function sampleOf (scenarios: Scenario[], size: number, random: () => number): Scenario[] {
  const chosen = shuffled(scenarios.filter(({ takesMinutes }) => takesMinutes !== true), random).slice(0, size)

  return scenarios.filter(scenario => chosen.includes(scenario))
}

/**
 * Before the first of many runs: after the last one nobody wants to hear that there
 * is no place for what was found.
 */
async function prepare (directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
    await access(directory, constants.W_OK)
  } catch (err: any) {
    throw new Error(`Results cannot be written to ${directory}: ${err.message}`, { cause: err })
  }
}

async function earlierOutcomes (directory: string): Promise<Outcome[]> {
  const { outcomes }: { outcomes: Outcome[] } = JSON.parse(await readFile(`${directory}/results.json`, 'utf8'))

  return outcomes
}

function isSame (one: Outcome, other: Outcome): boolean {
  return one.transport === other.transport && one.suite === other.suite && one.scenario === other.scenario
}

function command ({ suite, transports, sample, scale, officialScale, seed }: Flags): string {
  return [
    'npm run test:fault --',
    ...suite == null ? [] : [`--suite '${suite.join()}'`],
    `--transports ${transports.join()}`,
    ...sample == null ? [] : [`--sample ${sample}`],
    ...scale === 1 ? [] : [`--scale ${scale}`],
    ...officialScale == null ? [] : [`--official-scale ${officialScale}`],
    `--seed ${seed}`
  ].join(' ')
}

function sum (numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function say (line: string): void {
  process.stdout.write(`${line}\n`)
}
