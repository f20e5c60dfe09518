import { markdownTable } from '../lab/report/table.ts'
import { median, percentile } from '../lab/statistics.ts'
import { GROUPS } from './cells.ts'
import type { AtOnceResult } from './at-once.ts'
import type { AutonatResult } from './autonat.ts'
import type { Cell, Group, PunchPeer } from './cells.ts'
import type { NatKind } from './lab/nat.ts'
import type { PunchOutcome } from './punch.ts'
import type { CellResult } from './run-cells.ts'
import type { Environment } from '../lab/report/environment.ts'
import type { Versions } from '../lab/report/page.ts'

export interface ReportInit {
  results: CellResult[]
  autonat: AutonatResult[]
  atOnce: AtOnceResult[]
  environment: Environment
  versions: Versions
}

const TITLES: Record<Group, { title: string, text: string }> = {
  punches: {
    title: 'Through two NATs',
    text: 'Both NATs keep ports where they can and drop what nobody inside has asked for. The relay is go-libp2p.'
  },
  variants: {
    title: 'Other relays, a distance, TLS, and without decorators',
    text: 'The same with a js or rust relay, 40 ms one way between the two sides, TLS, and `tcp({ reusePort: true })` and `holePunching(dcutr())` alone.'
  },
  reversal: {
    title: 'One side is public',
    text: 'The side behind the NAT dials the public one, also where it was the one that was dialed (connection reversal).'
  },
  hard: {
    title: 'NATs that cannot be punched, or hardly',
    text: 'A NAT with another port for every connection leads no dial to where the peer listens. One that answers RST ends the dial that comes too early. A hole then needs both SYNs to be under way at once, which is unlikely without a distance. go dials once in each of its three attempts, ours again and again, with growing pauses, until the attempt is over.'
  },
  control: {
    title: 'Control: @libp2p/tcp',
    text: 'The same network, with `@libp2p/tcp` and `dcutr()`.'
  }
}

const PEERS: Record<PunchPeer, string> = {
  js: 'js, decorated',
  plain: 'js, `tcp()` alone',
  official: 'js, @libp2p/tcp',
  go: 'go',
  rust: 'rust'
}

const NATS: Record<NatKind, string> = {
  none: 'public',
  masquerade: 'keeps ports',
  random: 'random ports',
  reset: 'answers RST',
  restricted: 'lets in whom it knows',
  forward: 'forwards a port'
}

export function report ({ results, autonat, atOnce, environment: { date, commit }, versions }: ReportInit): string {
  return `${[
    '# Hole punching',
    `Written by \`npm run test:nat -- --keep\`, group by group, the last of them on ${date.slice(0, 10)} at ${commit}. \`test/nat/README.md\` describes the network.`,
    'A run is three new processes: a public relay and two nodes behind NATs. The first dials the second over the relay. It counts if both then tell of a direct connection to the address at which the public network sees the other. The time is from the relayed connection to the direct one, as the first node sees it: median, and the 10th and 90th percentile.',
    tables(results, autonat, atOnce),
    '## Measured with',
    Object.entries(versions).map(([name, entries]) => `- ${name}: ${Object.entries(entries).map(([key, value]) => `${key} ${value}`).join(', ')}`).join('\n')
  ].join('\n\n')}\n`
}

export function tables (results: CellResult[], autonat: AutonatResult[], atOnce: AtOnceResult[]): string {
  return [...punchTables(results), ...atOnceTable(atOnce), ...observedTable(results), ...autonatTable(autonat)].join('\n\n')
}

function punchTables (results: CellResult[]): string[] {
  return (Object.keys(GROUPS) as Group[]).flatMap(group => {
    const own = results.filter(({ cell }) => GROUPS[group].some(other => isSame(other, cell)))

    return own.length === 0 ? [] : [`## ${TITLES[group].title}`, TITLES[group].text, tableOf(own)]
  })
}

function atOnceTable (results: AtOnceResult[]): string[] {
  return results.length === 0
    ? []
    : [
        '## Two nodes dial each other at once',
        'Two public js nodes, decorated, dial each other at the same moment from their listening ports, ping, and close. Over a distance the two dials become one connection; both ends notice and dial again from any port.',
        markdownTable({
          columns: [{ title: 'encrypter', align: 'left' }, { title: 'one way' }, { title: 'from the listening port', align: 'left' }, { title: 'dials' }, { title: 'failed' }, { title: 'dialed again' }],
          rows: results.map(({ security, delay, dials, always, failed, redialed }) => [security === 'tls' ? 'TLS' : 'Noise', `${delay} ms`, always ? 'always' : 'by default', `2 × ${dials}`, `${failed}`, `${redialed}`])
        })
      ]
}

/** Only of NATs that keep ports, and of nodes that dial from theirs */
function observedTable (results: CellResult[]): string[] {
  const rows = (['go', 'rust', 'js'] as const).flatMap(relay => {
    const seen = results
      .filter(({ cell: { a, b, nats, relay: other } }) => other === relay && ![a, b].includes('official') && ![nats.a, nats.b].includes('random'))
      .flatMap(({ outcomes }) => outcomes.flatMap(({ observed }) => observed ?? []))

    return seen.length === 0 ? [] : [[relay, `${seen.filter(one => one).length} of ${seen.length}`]]
  })

  return rows.length === 0
    ? []
    : ['## Identify', 'Runs in which the relay told the js nodes that it sees the port that they listen on.', markdownTable({ columns: [{ title: 'relay', align: 'left' }, { title: 'runs' }], rows })]
}

function autonatTable (results: AutonatResult[]): string[] {
  return results.length === 0
    ? []
    : [
        '## AutoNAT',
        'A js node asks five js AutoNAT v2 servers, all with `reusePort`, whether they reach the address at which it is seen.',
        markdownTable({
          columns: [{ title: 'client', align: 'left' }, { title: 'dialed back' }, { title: 'announces the address', align: 'left' }],
          rows: results.map(({ case: { name }, dialedBack, dials, announced, error }) => [name, `${dialedBack} of ${dials}`, error ?? (announced ? 'yes' : 'no')])
        })
      ]
}

export function isSame (one: Cell, other: Cell): boolean {
  return (['a', 'b', 'relay', 'security', 'delay'] as const).every(key => one[key] === other[key]) && one.nats.a === other.nats.a && one.nats.b === other.nats.b
}

function tableOf (results: CellResult[]): string {
  return markdownTable({
    columns: [
      ...['dials over the relay', 'is dialed', 'relay', 'encrypter', 'NATs', 'delay'].map(title => ({ title, align: 'left' as const })),
      { title: 'direct' },
      { title: 'ms' },
      { title: 'p10 to p90' },
      { title: 'relayed connection lives' },
      { title: 'left behind', align: 'left' }
    ],
    rows: results.map(({ cell, outcomes }) => {
      const times = outcomes.flatMap(({ ok, ms }) => ok && ms != null ? [ms] : [])

      return [
        PEERS[cell.a],
        PEERS[cell.b],
        cell.relay,
        cell.security === 'tls' ? 'TLS' : 'Noise',
        cell.nats.a === cell.nats.b ? NATS[cell.nats.a] : `${NATS[cell.nats.a]}, ${NATS[cell.nats.b]}`,
        `${cell.delay} ms`,
        `${outcomes.filter(({ ok }) => ok).length} of ${outcomes.length}`,
        times.length === 0 ? '' : median(times).toFixed(0),
        times.length === 0 ? '' : `${percentile(times, 10).toFixed(0)} to ${percentile(times, 90).toFixed(0)}`,
        outcomes.every(({ ok }) => ok) ? '' : `${outcomes.filter(({ ok, relayed }) => !ok && relayed).length} of ${outcomes.filter(({ ok }) => !ok).length}`,
        leftBehind(outcomes)
      ]
    })
  })
}

/** By js, of punches that failed */
function leftBehind (outcomes: PunchOutcome[]): string {
  const counted = outcomes.flatMap(({ left }) => left == null ? [] : [left])

  return counted.length === 0 ? '' : counted.flat().join(', ') || 'nothing'
}
