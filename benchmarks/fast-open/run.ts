import { openLink } from '../../test/lab/link/open-link.ts'
import { addressOf } from '../../test/lab/peers/address.ts'
import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { startPeers } from '../connect/run.ts'
import { startCapture } from '../nagle/capture.ts'
import { missing } from '../nagle/run.ts'
import type { CapturedDial, FastOpenReport, Segment, Side } from './report.ts'
import type { Link } from '../../test/lab/link/link.ts'
import type { Capture } from '../nagle/capture.ts'
import type { Packet } from '../nagle/packet.ts'

const RIVALS = ['ours', 'fast-open']

/** The first fetches the cookie, and what runs is compiled */
const WARM_UPS = 5

/** How far the times of tcpdump and of the dialer may be apart, in ms */
const CLOCKS = 2

/** What tcpdump may need until it has shown what it saw, in ms */
const LATE = 1_000

/**
 * Captures one dial of each.
 *
 * @returns what this machine lacks where it cannot
 */
export async function runFastOpen (delay: number, command: string): Promise<FastOpenReport | string> {
  const lacking = missing()

  if (lacking.length > 0) {
    return `This needs\n${lacking.map(line => `- ${line}`).join('\n')}`
  }

  // what leaves a TUN device is captured when it is sent, behind tc netem when it comes
  const link = await openLink({ delay }, 'relay')

  return withCleanUp(async () => link.close(), async () => {
    const captures = { dialer: await startCapture(link, 'dialer'), listener: await startCapture(link, 'listener') }
    const dials: CapturedDial[] = []

    for (const rival of RIVALS) {
      dials.push(await captureDial(link, captures, rival))
    }

    await Promise.all(Object.values(captures).map(async capture => capture.stop()))

    return { benchmark: 'fast-open', ...environment(command), link: link.title, roundTrip: link.roundTrip, dials }
  })
}

async function captureDial (link: Link, captures: Record<Side, Capture>, rival: string): Promise<CapturedDial> {
  const contender = contenderNamed('stream', rival)
  const { listener, dialer, multiaddr } = await startPeers(link, contender)
  const { port } = addressOf(multiaddr)

  for (let i = 0; i < WARM_UPS; i++) {
    await dialer.ask('dial', multiaddr)
  }

  captures.dialer.clear()
  captures.listener.clear()

  const { total } = await dialer.ask('dial', multiaddr)

  // the FIN of the dialer, which comes after all that is drawn
  await captures.listener.sees(({ flags, toPort }) => flags.includes('F') && toPort === port, LATE)

  const dial = { rival, title: contender.title, firstByte: total, segments: paired(captures, port, total) }
  await Promise.all([listener.end(), dialer.end()])

  return dial
}

/** What both ends saw of each segment that came before the first byte was back */
function paired ({ dialer, listener }: Record<Side, Capture>, port: number, until: number): Segment[] {
  const [first] = dialer.packets.filter(({ toPort }) => toPort === port)
  const of = (packets: Packet[]): Packet[] => packets.filter(({ fromPort, toPort }) => [fromPort, toPort].includes(port))

  return of(dialer.packets).flatMap((packet): Segment[] => {
    const other = of(listener.packets).find(other => keyOf(other) === keyOf(packet))

    if (other == null) {
      return []
    }

    const from = packet.toPort === port ? 'dialer' : 'listener'
    const [sent, received] = from === 'dialer' ? [packet, other] : [other, packet]

    return [{ from, sent: sent.time - first.time, received: received.time - first.time, flags: packet.flags, bytes: packet.length }]
  }).filter(({ received }) => received <= until + CLOCKS)
}

function keyOf ({ fromPort, flags, from, to, ack, length }: Packet): string {
  return [fromPort, flags, from, to, ack, length].join()
}
