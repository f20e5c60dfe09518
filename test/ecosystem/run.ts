/*
 * Runs programs of other people on our transport and on `@libp2p/tcp`, and
 * writes RESULTS.md beside this file. Exit code 1 if a program fares worse on ours.
 * With `--add` some programs run again, and replace what the last whole run says of them.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf, wholeFrom } from '../lab/arguments.ts'
import { environment } from '../lab/report/environment.ts'
import { ms } from '../lab/report/numbers.ts'
import { writeReport } from '../lab/report/page.ts'
import { runCells } from '../lab/suite/run-cells.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { install, versionOf } from './install.ts'
import { withLater } from './later.ts'
import { MODES, PROGRAMS } from './programs.ts'
import { STACK, report, verdictsOf } from './report.ts'
import { canDrop, canHaveAddresses, runProgram } from './run-program.ts'
import type { ModeName, ProgramInfo, ProgramName } from './programs.ts'
import type { Results } from './report.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

const programNames = Object.keys(PROGRAMS) as ProgramName[]
const modeNames = Object.keys(MODES) as ModeName[]

interface Flags {
  only: ProgramName[]
  modes: ModeName[]
  runs: number
  short: boolean
  add: boolean
  page: boolean
}

await runSuite(new Command('test:ecosystem')
  .option('--only <programs>', programNames.join(), listOf(oneOf(programNames)), programNames)
  .option('--modes <modes>', modeNames.join(), listOf(oneOf(modeNames)), modeNames)
  .option('--runs <number>', 'of each program in each mode', wholeFrom(1), 5)
  .option('--short', 'a tenth of the work', false)
  .option('--add', 'into the results of the last whole run, in place of what they say of these programs', false)
  .option('--page', 'write RESULTS.md from results.json, and run nothing', false), main)

async function main ({ only, modes, runs, short, add, page }: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  const kept = add || page ? await lastWholeRun() : undefined

  if (kept != null && page) {
    await writeReport(import.meta.dirname, kept, report)

    return []
  }

  await install()
  await execa('tsc', ['-p', 'test/ecosystem'], { cwd: path.resolve(import.meta.dirname, '../..'), preferLocal: true, stdout: 'inherit', cancelSignal: signal })

  const skipped = await cannotRun(only)
  const programs = only.filter(program => skipped[program] == null)
  const versions = Object.fromEntries(await Promise.all([...new Set([...only.flatMap(program => PROGRAMS[program].packages), ...STACK])].map(async name => [name, await versionOf(name)])))
  const isWhole = !short && only.length === programNames.length && modes.length === modeNames.length
  const results: Results = { environment: environment(command), versions, skipped, rounds: [] }

  for (let run = 0; run < runs; run++) {
    const cells = programs.flatMap(program => rotated(modes, run).map(mode => ({
      name: `${run + 1} of ${runs}, ${program} ${mode}`,
      again: again({ only: program, modes: [...new Set(['official', mode])] }),
      run: async () => runProgram(program, mode, short, signal)
    })))

    results.rounds.push(await runCells(cells, signal, ({ wall, cpu, complaints }) => ({ summary: `${ms(wall)} ms, processor ${ms(cpu)} ms`, complaints })))
    results.environment = environment(command)

    if (isWhole && kept == null) {
      // what has run so far, in case that somebody ends us
      await writeReport(import.meta.dirname, results, report)
    }
  }

  if (kept != null) {
    await writeReport(import.meta.dirname, withLater(kept, results, only), report)
  } else if (!isWhole) {
    process.stdout.write(report(results))
  }

  return verdictsOf(results.rounds, programs, modes)
    .filter(({ mode, complaints }) => mode !== 'official' && complaints.length > 0)
    .map(({ program, mode, complaints }) => `${program} ${mode}:\n  ${complaints.join('\n  ')}`)
}

async function lastWholeRun (): Promise<Results> {
  return JSON.parse(await readFile(path.join(import.meta.dirname, 'results.json'), 'utf8'))
}

/** What this machine lacks for a program */
async function cannotRun (programs: ProgramName[]): Promise<Partial<Record<ProgramName, string>>> {
  const [hasAddresses, drops] = [await canHaveAddresses(), await canDrop()]

  return Object.fromEntries(programs.flatMap(program => {
    const info: ProgramInfo = PROGRAMS[program]

    if (info.addresses != null && !hasAddresses) {
      return [[program, 'a network namespace is needed, which is made on Linux as root']]
    }

    return info.drops === true && !drops ? [[program, 'nft is needed']] : []
  }))
}

/** Another mode goes first in each round */
function rotated <T> (items: T[], by: number): T[] {
  return items.map((_, i) => items[(i + by) % items.length])
}
