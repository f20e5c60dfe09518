import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { buildBinaries } from '../interop/binaries.ts'
import { versions } from '../interop/versions.ts'
import { listOf, oneOf, wholeFrom } from '../lab/arguments.ts'
import { say } from '../lab/process/say.ts'
import { environment } from '../lab/report/environment.ts'
import { writeReport } from '../lab/report/page.ts'
import { choose, withChoice } from '../lab/suite/choose.ts'
import { failedCells } from '../lab/suite/run-cells.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { AT_ONCE_CASES, runAtOnce } from './at-once.ts'
import { AUTONAT_CASES, isRight, runAutonat } from './autonat.ts'
import { GROUPS, isJs, nameOf } from './cells.ts'
import { KeptLab, openLab } from './lab/lab.ts'
import { report } from './report.ts'
import { runCell, verdictOf } from './run-cell.ts'
import type { Group } from './cells.ts'
import type { Results } from './report.ts'
import type { Binaries } from '../interop/binaries.ts'
import type { Choice } from '../lab/suite/choose.ts'
import type { Verdict } from '../lab/suite/run-cells.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

/**
 * Punches holes through NATs in network namespaces, between js, go and rust.
 */

type Part = Group | 'at-once' | 'autonat'
type Measured = Pick<Results, 'results' | 'autonat' | 'atOnce'>

interface Flags extends Choice {
  groups: Part[]
  runs?: number
  keep: boolean
  required: boolean
}

interface Job {
  name: string
  isSampled: boolean
  run(): Promise<Verdict>
}

const AT_ONCE_KEYS = ['security', 'delay', 'always'] as const
const PARTS: Part[] = [...Object.keys(GROUPS) as Group[], 'at-once', 'autonat']

async function main (flags: Flags, suite: SuiteContext): Promise<string[]> {
  const missing = await whatIsMissing()

  if (missing != null) {
    say(`SKIPPED: no NAT can be made on this machine: ${missing}`)

    return flags.required ? ['There must be NATs'] : []
  }

  const binaries = await buildBinaries('nat')
  const networks = new KeptLab()
  const measured: Measured = { results: [], autonat: [], atOnce: [] }
  const jobs = flags.groups.flatMap(part => jobsOf(part, flags, measured, networks, binaries, suite.signal))
  const failed = await failedCells(choose(jobs, ({ name }) => name, flags, ({ isSampled }) => isSampled), suite).finally(async () => networks.close())
  const results = { environment: environment(suite.command), versions: await versions() }

  if (flags.keep) {
    await writeReport(import.meta.dirname, { ...results, ...await withKept(measured) }, report)
  } else {
    process.stdout.write(report({ ...results, ...measured }))
  }

  return failed
}

async function whatIsMissing (): Promise<string | undefined> {
  try {
    const lab = await openLab({ nats: { a: 'masquerade', b: 'masquerade' }, delay: 1 })
    await lab.close()
  } catch (err: any) {
    return err.message
  }
}

function jobsOf (part: Part, { runs = Infinity }: Flags, { results, autonat, atOnce }: Measured, networks: KeptLab, binaries: Binaries, signal: AbortSignal): Job[] {
  switch (part) {
    case 'at-once': return AT_ONCE_CASES.map(one => ({
      name: `dials at once: ${one.security}, ${one.delay} ms`,
      isSampled: false,
      async run () {
        const result = await runAtOnce({ ...one, dials: Math.min(runs, one.dials) }, signal)
        atOnce.push(result)

        return { summary: `${result.failed} of 2 × ${result.dials} failed, ${result.redialed} were made again`, complaints: result.failed === 0 ? [] : [[...new Set(result.reasons)].join('; ')] }
      }
    }))
    case 'autonat': return AUTONAT_CASES.map(one => ({
      name: `AutoNAT: ${one.name}`,
      isSampled: false,
      async run () {
        const result = await runAutonat(one, signal)
        const summary = `${result.dialedBack} of ${result.dials} dialed back, the address is ${result.announced ? '' : 'not '}announced`
        autonat.push(result)

        return { summary, complaints: isRight(result) ? [] : [result.error ?? 'it was to be the other way round'] }
      }
    }))
    default: return GROUPS[part].filter(({ a, b, relay }) => [a, b, relay].every(peer => peer === 'js' || isJs(peer) || binaries[peer] != null)).map(cell => ({
      name: nameOf(cell),
      isSampled: true,
      async run () {
        const result = await runCell({ ...cell, runs: Math.min(runs, cell.runs) }, networks, binaries, signal)
        results.push(result)

        return verdictOf(result)
      }
    }))
  }
}

/** Cells that were not run keep the results that they have */
async function withKept (measured: Measured): Promise<Measured> {
  const file = path.join(import.meta.dirname, 'results.json')
  const kept: Measured = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : { results: [], autonat: [], atOnce: [] }

  return {
    results: Object.values(GROUPS).flat().flatMap(cell => [...measured.results, ...kept.results].find(other => nameOf(other.cell) === nameOf(cell)) ?? []),
    autonat: AUTONAT_CASES.flatMap(({ name }) => [...measured.autonat, ...kept.autonat].find(other => other.case.name === name) ?? []),
    atOnce: AT_ONCE_CASES.flatMap(one => [...measured.atOnce, ...kept.atOnce].find(other => AT_ONCE_KEYS.every(key => other[key] === one[key])) ?? [])
  }
}

await runSuite(withChoice(new Command('test:nat'))
  .option('--groups <names>', PARTS.join(), listOf(oneOf(PARTS)), PARTS)
  .option('--runs <count>', 'at most so many a cell', wholeFrom(1))
  .option('--keep', 'write RESULTS.md and results.json', false)
  .option('--required', 'fail where no NAT can be made, as root in CI does', process.env.CI != null && process.getuid?.() === 0), main)
