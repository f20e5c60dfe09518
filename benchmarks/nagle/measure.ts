import { EventEmitter } from 'node:events'
import { addressOf } from '../../test/lab/peers/address.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { resultOf, startCapture } from './capture.ts'
import { CASES, STACKS } from './cases.ts'
import { microseconds, toSegments } from './segments.ts'
import type { Capture } from './capture.ts'
import type { NagleCase, StackName } from './cases.ts'
import type { NagleOptions, NagleRun } from './report.ts'
import type { Arrival, NagleTasks } from './worker.ts'
import type { Link, LinkEnd } from '../../test/lab/link/link.ts'
import type { Worker } from '../../test/lab/process/worker.ts'

interface StackEnds {
  listener: Worker<NagleTasks>
  dialer: Worker<NagleTasks>
  address: string

  /**
   * Resolves to the next arrivals, once they are so many bytes together. Rejects
   * after a timeout in milliseconds.
   */
  arrived(bytes: number, timeout: number): Promise<Arrival[]>
}

/**
 * Runs every case so many times over a link, in an order that changes from round
 * to round, one connection at a time, with captures at both ends.
 */
export async function measure (link: Link, options: NagleOptions, onStep: (message: string) => void): Promise<NagleRun[]> {
  const { runs, seed } = options
  const random = seededRandom(seed)
  const captures = {
    sender: await startCapture(link, 'dialer'),
    receiver: await startCapture(link, 'listener')
  }
  const ends = new Map(await Promise.all(STACKS.map(async stack => [stack, await startStack(link, stack, options)] as const)))
  const measured: NagleRun[] = []

  for (let run = 1; run <= runs; run++) {
    for (const of of shuffled(CASES, random)) {
      onStep(`${of.id}, run ${run} of ${runs}, ${Math.round(link.roundTrip)} ms round trip`)
      measured.push(await measureOne(link, ends.get(of.stack) as StackEnds, of, run, captures, options))
    }
  }

  await Promise.all([captures.sender.stop(), captures.receiver.stop()])

  return measured
}

/** The first connection of a process compiles what it runs: it counts for nothing. */
async function startStack (link: Link, stack: StackName, { messages }: NagleOptions): Promise<StackEnds> {
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

  const arrived: StackEnds['arrived'] = async (bytes, timeout) => resultOf(() => (
    arrivals.reduce((sum, arrival) => sum + arrival.bytes, 0) < bytes ? undefined : arrivals.splice(0)
  ), events, timeout, `${stack}: ${bytes} bytes did not arrive`)

  const [listener, dialer] = await Promise.all([start('listener'), start('dialer')])
  const address = await listener.ask('listen', link.listenHost)

  await dialer.ask('dial', address, true)
  await Promise.all([dialer.ask('write', messages, 1), arrived(messages, timeoutOver(link))])
  await dialer.ask('close')

  return { listener, dialer, address, arrived }
}

async function measureOne (link: Link, ends: StackEnds, of: NagleCase, run: number, captures: Record<'sender' | 'receiver', Capture>, { messages, spacing }: NagleOptions): Promise<NagleRun> {
  const { dialer, address, arrived } = ends
  const timeout = timeoutOver(link) + messages * spacing

  captures.sender.clear()
  captures.receiver.clear()
  await dialer.ask('dial', address, of.noDelay)

  const [times, arrivals] = await Promise.all([
    dialer.ask('write', messages, of.pace === 'tick' ? 0 : spacing),
    arrived(messages, timeout)
  ])
  const [start] = times
  // a process has one connection with data at a time
  const { fromPort: port } = await captures.sender.sees(({ toPort, length }) => toPort === addressOf(address).port && length > 0, timeout)

  await Promise.all([
    acknowledged(captures.sender, port, messages, timeout),
    acknowledged(captures.receiver, port, messages, timeout)
  ])
  await dialer.ask('close')

  return {
    case: of.id,
    run,
    writes: times.map(time => microseconds(time - start)),
    arrivals: arrivals.flatMap(({ bytes, time }) => Array.from({ length: bytes }, () => microseconds(time - start))),
    segments: toSegments({
      sender: captures.sender.packets,
      receiver: captures.receiver.packets
    }, {
      port,
      start,
      capturedLate: link.kind === 'netem' ? link.shape.delay : 0
    })
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
