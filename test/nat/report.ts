import { page, section } from '../lab/report/page.ts'
import { tableOf } from '../lab/report/table.ts'
import { median, percentile } from '../lab/statistics.ts'
import { GROUPS, nameOf } from './cells.ts'
import type { AtOnceResult } from './at-once.ts'
import type { AutonatResult } from './autonat.ts'
import type { Group, PunchPeer } from './cells.ts'
import type { NatKind } from './lab/nat.ts'
import type { PunchOutcome } from './punch.ts'
import type { CellResult } from './run-cell.ts'
import type { Environment } from '../lab/report/environment.ts'
import type { Versions } from '../lab/report/page.ts'

export interface Results {
  environment: Environment
  versions: Versions
  results: CellResult[]
  autonat: AutonatResult[]
  atOnce: AtOnceResult[]
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

/** The page in Markdown */
export function report ({ results, autonat, atOnce, environment, versions }: Results): string {
  return page({
    title: 'Hole punching',
    about: 'Written by `npm run test:nat -- --keep`, group by group, the last of them as follows; do not edit. `test/nat/README.md` describes the network.',
    environment,
    versions,
    parts: [
      'A run is three new processes: a public relay and two nodes behind NATs. The first dials the second over the relay. It counts if both then tell of a direct connection to the address at which the public network sees the other. The time is from the relayed connection to the direct one, as the first node sees it: median, and the 10th and 90th percentile.',
      ...(Object.keys(GROUPS) as Group[]).map(group => punchSection(group, results)),
      section('Two nodes dial each other at once', 'Two public js nodes, decorated, dial each other at the same moment from their listening ports, ping, and close. Over a distance the two dials become one connection; both ends notice and dial again from any port.', tableOf(atOnce, [
        ['encrypter', ({ security }) => security === 'tls' ? 'TLS' : 'Noise', 'left'],
        ['one way', ({ delay }) => `${delay} ms`],
        ['from the listening port', ({ always }) => always ? 'always' : 'by default', 'left'],
        ['dials', ({ dials }) => `2 × ${dials}`],
        ['failed', ({ failed }) => `${failed}`],
        ['dialed again', ({ redialed }) => `${redialed}`]
      ])),
      section('Identify', 'Runs in which the relay told the js nodes that it sees the port that they listen on.', tableOf(observedBy(results), [
        ['relay', ({ relay }) => relay, 'left'],
        ['runs', ({ seen }) => `${seen.filter(one => one).length} of ${seen.length}`]
      ])),
      section('AutoNAT', 'A js node asks five js AutoNAT v2 servers, all with `reusePort`, whether they reach the address at which it is seen.', tableOf(autonat, [
        ['client', ({ case: { name } }) => name, 'left'],
        ['dialed back', ({ dialedBack, dials }) => `${dialedBack} of ${dials}`],
        ['announces the address', ({ announced, error }) => error ?? (announced ? 'yes' : 'no'), 'left']
      ]))
    ]
  })
}

/** Only of NATs that keep ports, and of nodes that dial from theirs */
function observedBy (results: CellResult[]): Array<{ relay: string, seen: boolean[] }> {
  return (['go', 'rust', 'js'] as const).map(relay => ({
    relay,
    seen: results
      .filter(({ cell: { a, b, nats, relay: other } }) => other === relay && ![a, b].includes('official') && ![nats.a, nats.b].includes('random'))
      .flatMap(({ outcomes }) => outcomes.flatMap(({ observed }) => observed ?? []))
  })).filter(({ seen }) => seen.length > 0)
}

function punchSection (group: Group, results: CellResult[]): string {
  const own = results.filter(({ cell }) => GROUPS[group].some(other => nameOf(other) === nameOf(cell)))

  return section(TITLES[group].title, TITLES[group].text, tableOf(own, [
    ['dials over the relay', ({ cell }) => PEERS[cell.a], 'left'],
    ['is dialed', ({ cell }) => PEERS[cell.b], 'left'],
    ['relay', ({ cell }) => cell.relay, 'left'],
    ['encrypter', ({ cell }) => cell.security === 'tls' ? 'TLS' : 'Noise', 'left'],
    ['NATs', ({ cell: { nats } }) => nats.a === nats.b ? NATS[nats.a] : `${NATS[nats.a]}, ${NATS[nats.b]}`, 'left'],
    ['delay', ({ cell }) => `${cell.delay} ms`, 'left'],
    ['direct', ({ outcomes }) => `${outcomes.filter(({ ok }) => ok).length} of ${outcomes.length}`],
    ['ms', ({ outcomes }) => inMs(outcomes, times => median(times).toFixed(0))],
    ['p10 to p90', ({ outcomes }) => inMs(outcomes, times => `${percentile(times, 10).toFixed(0)} to ${percentile(times, 90).toFixed(0)}`)],
    ['relayed connection lives', ({ outcomes }) => outcomes.every(({ ok }) => ok) ? '' : `${outcomes.filter(({ ok, relayed }) => !ok && relayed).length} of ${outcomes.filter(({ ok }) => !ok).length}`],
    ['left behind', ({ outcomes }) => leftBehind(outcomes), 'left']
  ]))
}

function inMs (outcomes: PunchOutcome[], text: (times: number[]) => string): string {
  const times = outcomes.flatMap(({ ok, ms }) => ok && ms != null ? [ms] : [])

  return times.length === 0 ? '' : text(times)
}

/** By js, of punches that failed */
function leftBehind (outcomes: PunchOutcome[]): string {
  const counted = outcomes.flatMap(({ left }) => left == null ? [] : [left])

  return counted.length === 0 ? '' : counted.flat().join(', ') || 'nothing'
}
