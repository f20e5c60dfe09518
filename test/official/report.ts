import { bullets, page, section } from '../lab/report/page.ts'
import { markdownTable, tableOf } from '../lab/report/table.ts'
import type { Environment } from '../lab/report/environment.ts'
import type { ColumnOf } from '../lab/report/table.ts'

/** What the specs can be run with, and the value of `TRANSPORT` that says so */
export const COLUMNS = {
  official: 'official',
  ours: '',
  'reuse-port': 'reuse-port',
  linux: 'linux',
  'fast-open': 'fast-open'
}

export type Column = keyof typeof COLUMNS

export interface Outcome {
  title: string
  result: 'passed' | 'failed' | 'skipped'

  /** Why it failed */
  reason?: string
}

/** By column. One that was not run is missing */
export type Outcomes = Partial<Record<Column, Outcome[]>>

/** What the official transport gets wrong. The titles of the tests bear the numbers; docs/differences.md says more */
const FAULTS = {
  1: 'close() and the peer\'s FIN lose data',
  2: 'the inactivity timeout does nothing after the peer\'s FIN',
  3: 'close() waits for ever, and a second close() not at all',
  4: 'listeners that pause do not resume, and lose count of their sockets',
  5: 'options and parts of addresses are ignored',
  6: 'each buffer is written alone',
  7: 'onDrain() waits only once',
  8: 'clean closes are counted on the wrong side',
  9: 'close() over TLS loses data',
  10: 'a socket that is connected to itself is a connection',
  11: 'a peer that closes while a connection gater takes its time ends the process'
}

/** What the official transport does right, so that ours must: a part of the titles of the tests */
const RULES: Record<string, RegExp> = {
  'js-libp2p\'s compliance tests': /^transport compliance/,
  'a peer that resets while a connection gater takes its time harms nobody': /connection gater reads a file.* resets at once/,
  'a file behind a connection gater loses nothing that came before the FIN': /connection gater reads a file.*before its FIN/,
  'a name is dialed at the address that answers': /\/dns (reaches|connects)/,
  'the timeout of a dial counts while a name is looked up': /timeout passes in a look-up/
}

/** What fails in a column of ours, and faults that no test shows with the official transport */
export function broken (outcomes: Outcomes): string[] {
  return [
    ...columnsOf(outcomes).filter(column => column !== 'official').flatMap(column => failures(outcomes, column).map(({ title }) => `${column}: ${title}`)),
    ...Object.entries(FAULTS).filter(([fault]) => outcomes.official != null && ofFault(outcomes, fault) === 0).map(([fault, title]) => `No test fails with official for fault ${fault}, ${title}`)
  ]
}

export function report (outcomes: Outcomes, environment: Environment): string {
  const columns = columnsOf(outcomes)

  return page({
    title: 'Our behaviour tests, on the official transport and on ours',
    about: 'Each file has a process of its own.',
    environment,
    parts: [
      markdownTable(tableOf(columns, [
        ['transport', column => column, 'left'],
        ...(['passed', 'failed', 'skipped'] as const).map((result): ColumnOf<Column> => [result, column => `${all(outcomes, column).filter(outcome => outcome.result === result).length}`])
      ])),
      section('What both must keep', '', tableOf(Object.entries(RULES), [
        ['rule', ([rule]) => rule, 'left'],
        ...columns.map((column): ColumnOf<[string, RegExp]> => [column, ([, pattern]) => passed(all(outcomes, column), pattern)])
      ])),
      outcomes.official == null
        ? ''
        : section('What only ours keeps', '', tableOf(Object.entries(FAULTS), [
          ['fault', ([fault, title]) => `${fault}, ${title}`, 'left'],
          ['tests that fail with @libp2p/tcp', ([fault]) => `${ofFault(outcomes, fault)}`]
        ])),
      ...columns.map(column => bullets(`## What fails with ${column}`, failures(outcomes, column).map(({ title, reason }) => `${title}: \`${reason}\``)))
    ]
  })
}

function columnsOf (outcomes: Outcomes): Column[] {
  return Object.keys(outcomes) as Column[]
}

function all (outcomes: Outcomes, column: Column): Outcome[] {
  return outcomes[column] ?? []
}

function failures (outcomes: Outcomes, column: Column): Outcome[] {
  return all(outcomes, column).filter(({ result }) => result === 'failed')
}

function ofFault (outcomes: Outcomes, fault: string): number {
  return failures(outcomes, 'official').filter(({ title }) => new RegExp(`\\bfault ${fault}\\b`).test(title)).length
}

/** `3 of 4`: how many tests pass of those whose titles match */
function passed (outcomes: Outcome[], pattern: RegExp): string {
  const ran = outcomes.filter(({ title, result }) => pattern.test(title) && result !== 'skipped')

  return `${ran.filter(({ result }) => result === 'passed').length} of ${ran.length}`
}
