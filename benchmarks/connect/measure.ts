import { openLink } from '../../test/lab/link/open-link.ts'
import { roundTripTo } from '../../test/lab/link/round-trip.ts'
import { addressOf, atAddress } from '../../test/lab/peers/address.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { inTurn } from '../in-turn.ts'
import type { ConnectTasks } from './worker.ts'
import type { Link, LinkEnd, LinkKind, LinkShape } from '../../test/lab/link/link.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Contender, FirstByte } from '../../test/lab/peers/contender.ts'
import type { Worker } from '../../test/lab/process/worker.ts'
import type { Turns } from '../in-turn.ts'
import type { Report } from '../series.ts'

export interface MeasuredLink {
  /** As series name it */
  group: string
  title: string

  /** In ms */
  roundTrip: number

  /** Round trips that no dialer sees, such as that of the SYN behind a proxy */
  hidden: number

  /** Why it is no better one */
  passedOver: string[]
}

export interface ConnectReport extends Report {
  links: MeasuredLink[]
}

type Outcome = Pick<ConnectReport, 'series'> & { link: MeasuredLink, failures: string[] }

/** Dials before the first that counts: they compile what runs */
const WARM_UPS = 2
const PROBES = 5
const ROW = 'dial'

/** Times the first byte of new connections of each contender over one link. */
export async function connectOver (shape: LinkShape, kind: LinkKind | undefined, contenders: Contender[], turns: Turns): Promise<Outcome> {
  const link = await openLink(shape, kind)

  return withCleanUp(async () => link.close(), async () => {
    const group = shape.delay === 0 ? 'loopback' : `${Math.round(link.roundTrip)} ms round trip`
    const measured = { group, title: link.title, roundTrip: link.roundTrip, hidden: link.hiddenRoundTrips, passedOver: link.passedOver.map(({ kind, reason }) => `${kind}: ${reason}`) }

    return dials(measured, contenders, turns, async contender => {
      const [listener, dialer] = await Promise.all([startPeer(link, 'listener', contender), startPeer(link, 'dialer', contender)])
      const [listening] = await listener.ask('listen', link.listenHost)
      const address = atAddress(listening, await link.dialAddress(addressOf(listening).port))

      return async () => dialer.ask('dial', address)
    })
  })
}

/** Times dials to a peer that listens on this or another machine. */
export async function connectTo (multiaddr: string, contenders: Contender[], turns: Turns): Promise<Outcome> {
  const roundTrip = await roundTripTo(addressOf(multiaddr), PROBES)
  const link = await openLink({ delay: 0 })

  return withCleanUp(async () => link.close(), async () => (
    dials({ group: 'network', title: `the network to ${multiaddr}`, roundTrip, hidden: 0, passedOver: [] }, contenders, turns, async contender => {
      const dialer = await startPeer(link, 'dialer', contender)

      return async () => dialer.ask('dial', multiaddr)
    })
  ))
}

/** A process that ends with the link */
async function startPeer (link: Link, end: LinkEnd, { level, name }: Contender): Promise<Worker<ConnectTasks>> {
  return link.start<ConnectTasks>(end, { script: scriptPath(import.meta.url, 'worker'), args: [level, name], name: `${name} ${end}` })
}

async function dials (link: MeasuredLink, contenders: Contender[], turns: Turns, start: (contender: Contender) => Promise<() => Promise<FirstByte>>): Promise<Outcome> {
  const started = await Promise.all(contenders.map(async contender => ({ name: contender.name, dial: await start(contender) })))

  for (const { dial } of started) {
    for (let i = 0; i < WARM_UPS; i++) {
      // one that fails now fails when it counts, too
      await dial().catch(() => {})
    }
  }

  return {
    link,
    ...await inTurn(started.map(({ name, dial }) => ({ group: link.group, row: ROW, rival: name, measure: async () => measurements(await dial(), link) })), turns)
  }
}

function measurements ({ connect = NaN, security = NaN, muxer = NaN, stream, firstByte, total, close }: FirstByte, { roundTrip, hidden }: MeasuredLink): Measurements {
  const steps = { TCP: connect, security, muxer, handshake: security + muxer, stream, byte: firstByte, total, close }

  return [
    ...Object.entries(steps).map(([metric, value]) => ({ metric, unit: 'ms', value })),
    { metric: 'round trips', unit: '', value: total / roundTrip + hidden }
  ]
}
