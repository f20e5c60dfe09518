import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { buildBinaries } from '../interop/binaries.ts'
import { endOnSignal } from '../interop/end-on-signal.ts'
import { versions } from '../interop/versions.ts'
import { listOf, numberFrom, oneOf, wholeFrom } from '../lab/arguments.ts'
import { seededRandom, shuffled } from '../lab/process/random.ts'
import { environment } from '../lab/report/environment.ts'
import { packageRoot } from '../lab/script-path.ts'
import { AT_ONCE_CASES, runAtOnce } from './at-once.ts'
import { AUTONAT_CASES, isRight, runAutonat } from './autonat.ts'
import { GROUPS, isJs, nameOf } from './cells.ts'
import { openLab } from './lab/lab.ts'
import { isSame, report, tables } from './report.ts'
import { runCells } from './run-cells.ts'
import type { AtOnceResult } from './at-once.ts'
import type { AutonatResult } from './autonat.ts'
import type { Cell, Group } from './cells.ts'
import type { CellResult } from './run-cells.ts'

/**
 * Punches holes through NATs in network namespaces, between js, go and rust.
 */

type Part = Group | 'at-once' | 'autonat'

interface Options {
  groups: Part[]
  only?: string
  runs?: number
  sample: number
  seed: number
  keep: boolean
  required: boolean
}

const names: Part[] = [...Object.keys(GROUPS) as Group[], 'at-once', 'autonat']
const directory = path.join(packageRoot(), 'test', 'nat')

async function main (options: Options, signal: AbortSignal): Promise<void> {
  const missing = await whatIsMissing()

  if (missing != null) {
    say(`SKIPPED: no NAT can be made on this machine: ${missing}`)
    process.exitCode = options.required ? 1 : 0

    return
  }

  const binaries = await buildBinaries('nat')
  const cells = chosen(options).filter(({ a, b, relay }) => [a, b, relay].every(peer => peer === 'js' || isJs(peer) || binaries[peer] != null))
  const results = await runCells(cells, {
    binaries,
    signal,
    onCell: ({ cell, outcomes }) => {
      say(`${outcomes.filter(({ ok }) => ok).length} of ${outcomes.length}: ${nameOf(cell)}`)
      outcomes.filter(({ ok }) => !ok && cell.expected === 'all').forEach(({ reasons }) => { say(`  ${reasons.join('; ')}`) })
      outcomes.filter(({ left = [] }) => left.length > 0).forEach(({ left = [] }) => { say(`  left behind: ${left.join(', ')}`) })
    }
  })
  const autonat: AutonatResult[] = []

  for (const one of options.groups.includes('autonat') ? AUTONAT_CASES : []) {
    signal.throwIfAborted()
    autonat.push(await runAutonat(one))
  }

  const atOnce: AtOnceResult[] = []

  for (const one of options.groups.includes('at-once') ? AT_ONCE_CASES : []) {
    signal.throwIfAborted()
    const result = await runAtOnce({ ...one, dials: Math.min(options.runs ?? Infinity, one.dials) })
    atOnce.push(result)
    say(`${result.failed} of 2 × ${result.dials} dials at once failed, ${result.redialed} were made again: ${result.security}, ${result.delay} ms ${result.reasons.join('; ')}`)
  }

  const broken = [
    ...atOnce.filter(({ failed }) => failed > 0).map(({ security, delay }) => `dials at once: ${security}, ${delay} ms`),
    ...results.filter(isBroken).map(({ cell }) => nameOf(cell)),
    ...autonat.filter(result => !isRight(result)).map(({ case: { name } }) => `AutoNAT: ${name}`)
  ]

  process.stdout.write(`${tables(results, autonat, atOnce)}\n`)

  if (options.keep) {
    await write(results, autonat, atOnce)
  }

  broken.forEach(name => { say(`not as promised: ${name}`) })
  process.exitCode = broken.length > 0 ? 1 : 0
}

async function whatIsMissing (): Promise<string | undefined> {
  try {
    const lab = await openLab({ nats: { a: 'masquerade', b: 'masquerade' }, delay: 1 })
    await lab.close()
  } catch (err: any) {
    return err.message
  }
}

function chosen ({ groups, only, runs, sample, seed }: Options): Cell[] {
  const all = groups.flatMap(group => group === 'autonat' || group === 'at-once' ? [] : GROUPS[group]).filter(cell => only == null || nameOf(cell).includes(only))
  const some = sample >= 1 ? all : shuffled(all, seededRandom(seed)).slice(0, Math.ceil(all.length * sample))

  if (sample < 1) {
    say(`${some.length} of ${all.length} cells, seed ${seed}`)
  }

  return all.filter(cell => some.includes(cell)).map(cell => ({ ...cell, runs: Math.min(runs ?? Infinity, cell.runs) }))
}

function isBroken ({ cell, outcomes }: CellResult): boolean {
  const opened = outcomes.filter(({ ok }) => ok).length

  if (cell.expected === 'none') {
    // and the relayed connection goes on, and nothing is left of the attempts
    return opened > 0 || outcomes.some(({ relayed, left = [] }) => !relayed || left.length > 0)
  }

  return cell.expected === 'all' && opened < outcomes.length
}

/** Cells that were not run keep the results that they have */
async function write (results: CellResult[], autonat: AutonatResult[], atOnce: AtOnceResult[]): Promise<void> {
  const file = path.join(directory, 'results.json')
  const kept = await readFile(file, 'utf8').then(text => JSON.parse(text), () => ({}))
  const before: CellResult[] = kept.results ?? []
  const all = Object.values(GROUPS).flat().flatMap(cell => {
    const result = [...results, ...before].find(other => isSame(other.cell, cell))

    return result == null ? [] : [result]
  })
  const init = {
    versions: await versions(),
    autonat: autonat.length > 0 ? autonat : kept.autonat ?? [],
    atOnce: atOnce.length > 0 ? atOnce : kept.atOnce ?? [],
    environment: environment('npm run test:nat')
  }

  await writeFile(path.join(directory, 'RESULTS.md'), report({ ...init, results: all }))
  await writeFile(file, `${JSON.stringify({ ...init, results: all }, null, 1)}\n`)
}

function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

const options = new Command('test:nat')
  .option('--groups <names>', names.join(), listOf(oneOf(names)), names)
  .option('--only <text>', 'cells whose name has it')
  .option('--runs <count>', 'at most so many a cell', wholeFrom(1))
  .option('--sample <share>', 'of the cells, chosen by the seed; 1 for all', numberFrom(0), 1)
  .option('--seed <number>', 'makes a choice again', wholeFrom(0), Date.now() % 2 ** 31)
  .option('--keep', 'write RESULTS.md and results.json', false)
  .option('--required', 'fail where no NAT can be made, as root in CI does', process.env.CI != null && process.getuid?.() === 0)
  .parse()
  .opts<Options>()

await endOnSignal(async signal => main(options, signal))
