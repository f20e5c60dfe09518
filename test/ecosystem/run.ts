/* eslint-disable no-console */
/*
 * Runs programs of other people on our transport and on `@libp2p/tcp`, and
 * writes RESULTS.md beside this file. Exit code 1 if a program fares worse on ours.
 */
import { writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf, wholeFrom } from '../lab/arguments.ts'
import { environment, provenance, rememberCommit } from '../lab/report/environment.ts'
import { ms } from '../lab/report/numbers.ts'
import { install, versionOf } from './install.ts'
import { MODES, PROGRAMS } from './programs.ts'
import { report, verdictsOf } from './report.ts'
import { canDrop, canHaveAddresses, runProgram } from './run-program.ts'
import type { ModeName, ProgramInfo, ProgramName } from './programs.ts'
import type { Outcome } from './run-program.ts'

const root = path.resolve(import.meta.dirname, '../..')
const PAGE = path.join(root, 'test/ecosystem/RESULTS.md')
const RESULTS = path.join(import.meta.dirname, 'results.json')

const programNames = Object.keys(PROGRAMS) as ProgramName[]
const modeNames = Object.keys(MODES) as ModeName[]

/** What each node has */
const STACK = ['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/yamux']

interface Flags {
  only: ProgramName[]
  modes: ModeName[]
  runs: number
  short: boolean
}

await new Command('test:ecosystem')
  .option('--only <programs>', programNames.join(), listOf(oneOf(programNames)), programNames)
  .option('--modes <modes>', modeNames.join(), listOf(oneOf(modeNames)), modeNames)
  .option('--runs <number>', 'of each program in each mode', wholeFrom(1), 5)
  .option('--short', 'a tenth of the work', false)
  .action(main)
  .parseAsync()

async function main ({ only, modes, runs, short }: Flags): Promise<void> {
  rememberCommit()
  await install()
  await execa('tsc', ['-p', 'test/ecosystem'], { cwd: root, preferLocal: true, stdout: 'inherit' })

  const skipped: Partial<Record<ProgramName, string>> = {}

  if (!await canHaveAddresses()) {
    for (const program of only.filter(program => (PROGRAMS[program] as ProgramInfo).addresses != null)) {
      skipped[program] = 'a network namespace is needed, which is made on Linux as root'
    }
  }

  if (!await canDrop()) {
    for (const program of only.filter(program => (PROGRAMS[program] as ProgramInfo).drops === true)) {
      skipped[program] ??= 'nft is needed'
    }
  }

  const versions = Object.fromEntries(await Promise.all([...new Set([...only.flatMap(program => PROGRAMS[program].packages), ...STACK])].map(async name => [name, await versionOf(name)])))
  const command = ['npm run test:ecosystem', ...process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : []].join(' ')
  const isWhole = !short && only.length === programNames.length && modes.length === modeNames.length
  const rounds: Outcome[][] = []
  let page = ''

  for (let run = 0; run < runs; run++) {
    const round: Outcome[] = []

    for (const program of only.filter(program => skipped[program] == null)) {
      for (const mode of rotated(modes, run)) {
        const outcome = await runProgram(program, mode, short)

        round.push(outcome)
        console.info('%d/%d %s %s: %s ms, processor %s ms%s', run + 1, runs, program, mode, ms(outcome.wall), ms(outcome.cpu), outcome.complaints.map(complaint => `\n  ${complaint}`).join(''))
      }
    }

    rounds.push(round)

    const env = environment(command)

    page = report({ rounds, programs: only, modes, versions, skipped, provenance: provenance(env, Object.fromEntries(STACK.map(name => [name, versions[name]]))) })

    if (isWhole) {
      // what has run so far, in case that somebody ends us
      await writeFile(PAGE, page)
      await writeFile(RESULTS, `${JSON.stringify({ environment: env, versions, rounds })}\n`)
    }
  }

  if (!isWhole) {
    console.info('\n%s', page)
  }

  const worse = verdictsOf(rounds, only, modes).filter(({ program, mode, complaints }) => mode !== 'official' && complaints.length > 0 && skipped[program] == null)

  for (const { program, mode, complaints } of worse) {
    console.error('%s %s:\n  %s', program, mode, complaints.join('\n  '))
  }

  console.info('load %s, %d of %d programs and modes passed', os.loadavg()[0].toFixed(1), only.length * modes.length - worse.length, only.length * modes.length)
  process.exitCode = worse.length === 0 ? 0 : 1
}

/** Another mode goes first in each round */
function rotated <T> (items: T[], by: number): T[] {
  return items.map((_, i) => items[(i + by) % items.length])
}
