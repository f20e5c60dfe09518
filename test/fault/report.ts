import { short } from '../lab/report/numbers.ts'
import { bullets, page, section } from '../lab/report/page.ts'
import { markdownTable } from '../lab/report/table.ts'
import type { Outcome, Suite, TransportName } from './scenario.ts'
import type { Environment } from '../lab/report/environment.ts'
import type { Versions } from '../lab/report/page.ts'

export interface Results {
  environment: Environment
  versions: Versions
  outcomes: Outcome[]
}

const TITLES: Record<TransportName, string> = { ours: 'ours', linux: 'ours, with linux()', 'fast-open': 'ours, with Fast Open', 'reuse-port': 'ours, from the listening port', official: '@libp2p/tcp' }

/**
 * What each transport kept, side by side
 */
export function report (suites: Suite[], { environment, versions, outcomes }: Results): string {
  const transports = (Object.keys(TITLES) as TransportName[]).filter(name => outcomes.some(({ transport }) => transport === name))

  return page({
    title: 'Faults',
    about: 'Written by the command below. A cell says how many runs kept the promise, of how many; behind it the worst of what was measured in them. Times of the two columns are not to be compared: where there are more runs, more of them go on at the same time.',
    environment,
    versions,
    parts: [
      commits(outcomes),
      markdownTable({
        columns: [{ title: 'transport', align: 'left' }, { title: 'faults injected' }, { title: 'runs' }, { title: 'kept' }, { title: 'crashes, hangs, warnings' }],
        rows: transports.map(name => totals(TITLES[name], outcomes.filter(({ transport }) => transport === name)))
      }),
      ...suites.map(suite => ({ suite, own: outcomes.filter(outcome => outcome.suite === suite.name) })).filter(({ own }) => own.length > 0).map(({ suite, own }) => section(suite.name, `${suite.promise}.`, {
        columns: [{ title: 'scenario', align: 'left' }, ...transports.flatMap(name => [{ title: TITLES[name] }, { title: 'worst', align: 'left' as const }])],
        rows: suite.scenarios.map(({ name }) => [name, ...transports.flatMap(transport => cells(own.find(outcome => outcome.scenario === name && outcome.transport === transport)))])
      }, breaches(own)))
    ]
  })
}

/** Suites may be run one by one */
function commits (outcomes: Outcome[]): string {
  const suites = new Map<string, Set<string>>()

  for (const { transport, suite, commit = 'an earlier commit' } of outcomes) {
    suites.set(commit, (suites.get(commit) ?? new Set()).add(`${suite} (${TITLES[transport]})`))
  }

  return [...suites].map(([commit, names]) => `At ${commit}: ${[...names].join(', ')}.`).join('\n')
}

function totals (title: string, outcomes: Outcome[]): string[] {
  const total = (of: (outcome: Outcome) => number): string => outcomes.reduce((sum, outcome) => sum + of(outcome), 0).toLocaleString('en')

  return [title, total(({ faults }) => faults), total(({ runs }) => runs), total(({ kept }) => kept), total(({ unhealthy }) => unhealthy.length)]
}

function cells (outcome?: Outcome): string[] {
  if (outcome == null) {
    return ['', '']
  }

  return [`${outcome.kept}/${outcome.runs}`, Object.entries(outcome.worst).map(([name, value]) => `${name} ${short(value)}`).join(', ')]
}

function breaches (outcomes: Outcome[]): string {
  return bullets('What went wrong:', outcomes.flatMap(({ transport, scenario, broken, unhealthy }) => [
    ...Object.entries(broken).map(([what, times]) => `${times} times ${what}`),
    ...unhealthy
  ].map(what => `${TITLES[transport]}, ${scenario}: ${what.split('\n')[0]}`)))
}
