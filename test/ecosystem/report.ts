import { provenance } from '../lab/report/environment.ts'
import { ms, times } from '../lab/report/numbers.ts'
import { bullets, page, section } from '../lab/report/page.ts'
import { markdownTable } from '../lab/report/table.ts'
import { median } from '../lab/statistics.ts'
import { judge } from './judge.ts'
import { MODES, PROGRAMS } from './programs.ts'
import type { Verdict } from './judge.ts'
import type { ModeName, ProgramInfo, ProgramName } from './programs.ts'
import type { Outcome } from './run-program.ts'
import type { Environment } from '../lab/report/environment.ts'

export interface Results {
  environment: Environment

  /** Of each package that takes part */
  versions: Record<string, string>

  /** What could not run here, and why */
  skipped?: Partial<Record<ProgramName, string>>

  /** Outcomes, those of one round together */
  rounds: Outcome[][]

  /** Programs that ran again after the whole run, and when and where: see later.ts */
  later?: Array<{ programs: ProgramName[], environment: Environment }>
}

/** What each node has */
export const STACK = ['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/yamux']

/** The page in Markdown */
export function report ({ environment, rounds, versions, skipped = {}, later = [] }: Results): string {
  const outcomes = rounds.flat()
  const programs = (Object.keys(PROGRAMS) as ProgramName[]).filter(name => skipped[name] != null || outcomes.some(({ program }) => program === name))
  const modes = (Object.keys(MODES) as ModeName[]).filter(name => outcomes.some(({ mode }) => mode === name))
  const verdicts = verdictsOf(rounds, programs, modes)

  return page({
    title: 'Compatibility',
    about: 'Programs that people use, from npm, on this transport and on `@libp2p/tcp`. Written by `npm run test:ecosystem`; do not edit.',
    environment,
    versions: { js: Object.fromEntries(STACK.map(name => [name, versions[name]])) },
    parts: [
      later.map(({ programs, environment }) => `${programs.join(', ')}: ${provenance(environment)}`).join('\n\n'),
      section('Programs', [
        'Each program runs in a process of its own, in every mode in turn, and again in another order. All nodes of a program run in one mode; *decorated* is `tcp()` with',
        '`optimistic(noise())` and `optimistic(yamux())`, *mixed* has nodes of official and decorated ones beside each other. A run passes if it delivers what it delivers with official (hashes',
        'and counts of the data), with no warning of Node (MaxListenersExceeded among them), no unhandled rejection, and no handle left after `stop()`.'
      ].join('\n'), {
        columns: [{ title: 'program', align: 'left' }, { title: 'what it does', align: 'left' }, ...modes.map(mode => ({ title: MODES[mode] }))],
        rows: programs.map(program => [nameOf(program, versions), PROGRAMS[program].title, ...modes.map(mode => passes(program, mode, verdicts, skipped))])
      }),
      notes(programs, skipped),
      ...gainsOf(outcomes, programs, modes),
      bullets('### What did not pass', verdicts.flatMap(({ program, mode, complaints }) => complaints.map(complaint => `${program}, ${MODES[mode]}: ${complaint.split('\n')[0].slice(0, 300)}`))),
      section('Times', [
        'Time of the program on the clock, and of the processor for all nodes together, as a part of official\'s in the same round: medians. What is slower than official in every round, and by more',
        'than 5 % in the median, in both measures, is bold. Times of programs that wait for timers of their own (identify push, gossipsub) say little. The clock of autonat stops at the fourth',
        'confirmation: ten connections have been opened by then with `tcp()` alone, eight with official, so that each takes as long. That of autonat-v1 stops at the fourth dial, while servers still',
        'answer: how much of that falls before it differs.'
      ].join('\n'), {
        columns: [{ title: 'program', align: 'left' }, { title: `${MODES.official}, ms` }, ...modes.filter(mode => mode !== 'official').flatMap(mode => [{ title: `${MODES[mode]}, clock` }, { title: 'processor' }])],
        rows: programs.filter(program => skipped[program] == null).map(program => [
          program,
          ms(median(outcomes.filter(outcome => outcome.program === program && outcome.mode === 'official' && outcome.complaints.length === 0).map(({ wall }) => wall))),
          ...modes.filter(mode => mode !== 'official').flatMap(mode => timesOf(verdicts.find(verdict => verdict.program === program && verdict.mode === mode)))
        ])
      }),
      '## Run one again',
      '```console\n$ npm run test:ecosystem -- --only gossipsub --runs 5\n```'
    ]
  })
}

export function verdictsOf (rounds: Outcome[][], programs: ProgramName[], modes: ModeName[]): Verdict[] {
  return programs.flatMap(program => modes.map(mode => judge(program, mode, rounds)))
}

function nameOf (program: ProgramName, versions: Record<string, string>): string {
  const { packages } = PROGRAMS[program]

  return `${program} (${packages.map(name => `${name} ${versions[name]}`).join(', ')})`
}

function passes (program: ProgramName, mode: ModeName, verdicts: Verdict[], skipped: Results['skipped'] = {}): string {
  const verdict = verdicts.find(verdict => verdict.program === program && verdict.mode === mode)
  const { note }: ProgramInfo = PROGRAMS[program]

  return skipped[program] != null || verdict == null ? 'skipped' : `${verdict.passed}/${verdict.runs}${note == null ? '' : ' fail alike'}`
}

function notes (programs: ProgramName[], skipped: Results['skipped'] = {}): string {
  return programs.flatMap(program => {
    const { note }: ProgramInfo = PROGRAMS[program]

    return [...note == null ? [] : [`- ${program}: ${note}.`], ...skipped[program] == null ? [] : [`- ${program}: skipped, ${skipped[program]}.`]]
  }).join('\n')
}

/** What a program got in each mode, if that may be more than with official */
function gainsOf (outcomes: Outcome[], programs: ProgramName[], modes: ModeName[]): string[] {
  return programs.flatMap(program => {
    const { gains = [] }: ProgramInfo = PROGRAMS[program]
    const of = (mode: ModeName): Outcome[] => outcomes.filter(outcome => outcome.program === program && outcome.mode === mode)

    return gains.length === 0 || of('official').length === 0
      ? []
      : [
          `What ${program} found, in all runs together:`,
          markdownTable({
            columns: [{ title: '', align: 'left' }, ...modes.map(mode => ({ title: MODES[mode] }))],
            rows: gains.map(fact => [fact, ...modes.map(mode => `${of(mode).reduce((sum, { facts }) => sum + Number(facts[fact] ?? 0), 0)}`)])
          })
        ]
  })
}

function timesOf (verdict?: Verdict): string[] {
  const mark = verdict?.isSlower === true ? '**' : ''

  return [`${mark}${times(verdict?.wall ?? NaN)}${mark}`, `${mark}${times(verdict?.cpu ?? NaN)}${mark}`]
}
