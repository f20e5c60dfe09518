import { provenance } from '../lab/report/environment.ts'
import { markdownTable } from '../lab/report/table.ts'
import type { Environment } from '../lab/report/environment.ts'

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

/** Whether all that each of our columns runs passes, and each fault has a test that fails with the official transport */
export function kept (outcomes: Outcomes): boolean {
  return ours(outcomes).every(column => failures(outcomes, column).length === 0) &&
    (outcomes.official == null || Object.keys(FAULTS).every(fault => ofFault(outcomes, fault) > 0))
}

export function page (outcomes: Outcomes, environment: Environment): string {
  const columns = Object.keys(outcomes) as Column[]

  return `# Our behaviour tests, on the official transport and on ours

${provenance(environment)} Each file has a process of its own.

${markdownTable({
    columns: [{ title: 'transport', align: 'left' }, { title: 'passed' }, { title: 'failed' }, { title: 'skipped' }],
    rows: columns.map(column => [column, ...(['passed', 'failed', 'skipped'] as const).map(result => `${all(outcomes, column).filter(outcome => outcome.result === result).length}`)])
  })}

## What both must keep

${markdownTable({
    columns: [{ title: 'rule', align: 'left' }, ...columns.map(title => ({ title }))],
    rows: Object.entries(RULES).map(([rule, pattern]) => [rule, ...columns.map(column => passed(all(outcomes, column), pattern))])
  })}
${outcomes.official == null
    ? ''
    : `
## What only ours keeps

${markdownTable({
    columns: [{ title: 'fault', align: 'left' }, { title: 'tests that fail with @libp2p/tcp' }],
    rows: Object.entries(FAULTS).map(([fault, title]) => [`${fault}, ${title}`, `${ofFault(outcomes, fault)}`])
  })}
`}
${columns.map(column => list(outcomes, column)).join('')}`.trimEnd() + '\n'
}

function list (outcomes: Outcomes, column: Column): string {
  const failed = failures(outcomes, column)

  return failed.length === 0
    ? ''
    : `\n## What fails with ${column}\n\n${failed.map(({ title, reason }) => `- ${title}: \`${reason}\``).join('\n')}\n`
}

function all (outcomes: Outcomes, column: Column): Outcome[] {
  return outcomes[column] ?? []
}

function ours (outcomes: Outcomes): Column[] {
  return (Object.keys(outcomes) as Column[]).filter(column => column !== 'official')
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
