import { EventEmitter } from 'node:events'
import { openLink } from '../../test/lab/link/open-link.ts'
import { addressOf } from '../../test/lab/peers/address.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { inTurn } from '../in-turn.ts'
import { resultOf, startCapture } from './capture.ts'
import { microseconds, toSegments } from './segments.ts'
import type { Capture } from './capture.ts'
import type { Segment } from './segments.ts'
import type { Arrival, NagleTasks } from './worker.ts'
import type { Link, LinkEnd } from '../../test/lab/link/link.ts'
import type { Worker } from '../../test/lab/process/worker.ts'
import type { Turns } from '../in-turn.ts'
import type { Report, Series } from '../series.ts'

/** Names of contenders at the connection level */
export const STACKS = ['net', 'official', 'ours']

/** How one-byte messages are written, and the TCP_NODELAY that is asked for, which turns Nagle's algorithm off */
export const CASES = [
  { row: 'Nagle on', noDelay: false, isSpaced: true },
  { row: 'Nagle off', noDelay: true, isSpaced: true },
  { row: 'Nagle off, in one tick', noDelay: true, isSpaced: false }
]

type Case = typeof CASES[number]

export interface Writes {
  messages: number

  /** Milliseconds between them, so that no two are in one tick */
  spacing: number
}

/** One connection. Times are in milliseconds since its first write. */
export interface CapturedRun extends Pick<Series, 'group' | 'row' | 'rival'> {
  writes: number[]

  /** When the receiver's program was given each message */
  arrivals: number[]
  segments: Segment[]
}

export interface NagleReport extends Report, Writes {
  links: Array<{ group: string, title: string, roundTrip: number }>
  runs: CapturedRun[]
}

type Outcome = Pick<NagleReport, 'series' | 'runs'> & { link: NagleReport['links'][number], failures: string[] }

interface Ends {
  dialer: Worker<NagleTasks>
  address: string

  /** The next arrivals, once they are so many bytes together, or an error after a timeout in ms */
  arrived(bytes: number, timeout: number): Promise<Arrival[]>
}

/**
 * Every case of every stack, one connection at a time, with captures at both ends of a link with two
 * kernels' TCP.
 */
export async function measureNagle (roundTrip: number, writes: Writes, turns: Turns): Promise<Outcome> {
  // what leaves a TUN device is captured when it is sent, behind tc netem it would be captured when it comes
  const link = await openLink({ delay: roundTrip / 2 }, 'relay')

  return withCleanUp(async () => link.close(), async () => {
    const group = `${Math.round(link.roundTrip)} ms round trip`
    const captures = { sender: await startCapture(link, 'dialer'), receiver: await startCapture(link, 'listener') }
    const ends = new Map(await Promise.all(STACKS.map(async stack => [stack, await startStack(link, stack, writes.messages)] as const)))
    const runs: CapturedRun[] = []
    const outcome = await inTurn(CASES.flatMap(of => [...ends].map(([rival, ends]) => ({
      group,
      row: of.row,
      rival,
      async measure () {
        const run = { group, row: of.row, rival, ...await measureOne(link, ends, of, captures, writes) }
        const last = run.arrivals.at(-1) ?? NaN
        runs.push(run)

        return [
          { metric: 'segments', unit: '', value: run.segments.filter(({ from, bytes, retransmission }) => from === 'sender' && bytes > 0 && retransmission == null).length },
          { metric: 'first byte', unit: 'ms', value: run.arrivals[0] },
          { metric: 'last byte', unit: 'ms', value: last },
          { metric: 'round trips', unit: '', value: last / link.roundTrip },
          { metric: 'after the first', unit: 'round trips', value: (last - run.arrivals[0]) / link.roundTrip },
          { metric: 'retransmissions', unit: '', value: run.segments.filter(({ retransmission }) => retransmission != null).length }
        ]
      }
    }))), turns)

    await Promise.all([captures.sender.stop(), captures.receiver.stop()])

    return { ...outcome, runs, link: { group, title: link.title, roundTrip: link.roundTrip } }
  })
}

/** The first connection of a process compiles what it runs: it counts for nothing. */
async function startStack (link: Link, stack: string, messages: number): Promise<Ends> {
  const arrivals: Arrival[] = []
  const events = new EventEmitter()
  const start = async (end: LinkEnd): Promise<Worker<NagleTasks>> => link.start<NagleTasks>(end, {
    script: scriptPath(import.meta.url, 'worker'),
    args: [stack],
    name: `${stack} ${end}`,
    onTold (arrival) {
      arrivals.push(arrival)
      events.emit('more')
    }
  })

  const arrived: Ends['arrived'] = async (bytes, timeout) => resultOf(() => (
    arrivals.reduce((sum, arrival) => sum + arrival.bytes, 0) < bytes ? undefined : arrivals.splice(0)
  ), events, timeout, `${stack}: ${bytes} bytes did not arrive`)

  const [listener, dialer] = await Promise.all([start('listener'), start('dialer')])
  const address = await listener.ask('listen', link.listenHost)

  await dialer.ask('dial', address, true)
  await Promise.all([dialer.ask('write', messages, 1), arrived(messages, timeoutOver(link))])
  await dialer.ask('close')

  return { dialer, address, arrived }
}

async function measureOne (link: Link, { dialer, address, arrived }: Ends, { noDelay, isSpaced }: Case, captures: Record<'sender' | 'receiver', Capture>, { messages, spacing }: Writes): Promise<Pick<CapturedRun, 'writes' | 'arrivals' | 'segments'>> {
  const timeout = timeoutOver(link) + messages * spacing

  captures.sender.clear()
  captures.receiver.clear()
  await dialer.ask('dial', address, noDelay)

  const [times, arrivals] = await Promise.all([dialer.ask('write', messages, isSpaced ? spacing : 0), arrived(messages, timeout)])
  const [start] = times
  // a process has one connection with data at a time
  const { fromPort: port } = await captures.sender.sees(({ toPort, length }) => toPort === addressOf(address).port && length > 0, timeout)

  await Promise.all(Object.values(captures).map(async capture => acknowledged(capture, port, messages, timeout)))
  await dialer.ask('close')

  return {
    writes: times.map(time => microseconds(time - start)),
    arrivals: arrivals.flatMap(({ bytes, time }) => Array.from({ length: bytes }, () => microseconds(time - start))),
    segments: toSegments({ sender: captures.sender.packets, receiver: captures.receiver.packets }, port, start)
  }
}

/** Enough for a segment that is sent three times */
function timeoutOver (link: Link): number {
  return Math.ceil(5_000 + 10 * link.roundTrip)
}

/**
 * Resolves when a capture has the ACK of the last byte. What tcpdump prints can
 * be later than what it tells of.
 */
async function acknowledged (capture: Capture, port: number, bytes: number, timeout: number): Promise<void> {
  const first = await capture.sees(({ fromPort, length }) => fromPort === port && length > 0, timeout)
  const end = (first.from ?? NaN) + bytes

  await capture.sees(({ toPort, ack = 0 }) => toPort === port && ack >= end, timeout)
}
