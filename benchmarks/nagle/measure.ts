import { shuffled } from '../run/random.ts'
import { startCapture } from './capture.ts'
import { STACKS } from './cases.ts'
import { startEnd } from './end-process.ts'
import { microseconds, toSegments } from './segments.ts'
import type { Capture } from './capture.ts'
import type { NagleCase, StackName } from './cases.ts'
import type { EndProcess } from './end-process.ts'
import type { Segment } from './segments.ts'
import type { Address, Link } from '../link/link.ts'

export interface MeasureOptions {
  cases: NagleCase[]
  runs: number

  /**
   * One-byte writes in each run.
   */
  messages: number

  /**
   * Milliseconds between writes that are not in one tick.
   */
  spacing: number
  random(): number

  /**
   * Is told what begins.
   */
  onStep?(message: string): void
}

/**
 * One connection. Times are in milliseconds since its first write.
 */
export interface NagleRun {
  case: string

  /**
   * Counted from 1.
   */
  run: number
  writes: number[]

  /**
   * When the receiver's program was given each message.
   */
  arrivals: number[]
  segments: Segment[]
}

interface StackEnds {
  listener: EndProcess
  dialler: EndProcess
  address: Address
}

/**
 * Runs every case so many times over a link, in an order that changes from round
 * to round, one connection at a time, with captures at both ends.
 */
export async function measure (link: Link, options: MeasureOptions): Promise<NagleRun[]> {
  const { cases, runs, random, onStep } = options
  const captures = {
    sender: await startCapture(link, 'dialler'),
    receiver: await startCapture(link, 'listener')
  }
  const ends = new Map(await Promise.all(STACKS.map(async stack => [stack, await startStack(link, stack, options)] as const)))
  const measured: NagleRun[] = []

  for (let run = 1; run <= runs; run++) {
    for (const of of shuffled(cases, random)) {
      onStep?.(`${of.id}, run ${run} of ${runs}, ${Math.round(link.roundTrip)} ms round trip`)
      measured.push(await measureOne(link, ends.get(of.stack) as StackEnds, of, run, captures, options))
    }
  }

  await Promise.all([captures.sender.stop(), captures.receiver.stop()])

  return measured
}

/**
 * The first connection of a process compiles what it runs: it counts for nothing.
 */
async function startStack (link: Link, stack: StackName, { messages }: MeasureOptions): Promise<StackEnds> {
  const [listener, dialler] = await Promise.all([
    startEnd(link, 'listener', stack),
    startEnd(link, 'dialler', stack)
  ])

  const address = await listener.ask('listen', link.listenHost)

  await dialler.ask('dial', address, true)
  await Promise.all([
    dialler.ask('write', messages, 1),
    listener.arrival(messages, timeoutOver(link))
  ])
  await dialler.ask('close')

  return { listener, dialler, address }
}

async function measureOne (link: Link, ends: StackEnds, of: NagleCase, run: number, captures: Record<'sender' | 'receiver', Capture>, { messages, spacing }: MeasureOptions): Promise<NagleRun> {
  const { dialler, listener, address } = ends
  const timeout = timeoutOver(link) + messages * spacing

  captures.sender.clear()
  captures.receiver.clear()
  await dialler.ask('dial', address, of.noDelay)

  const arriving = listener.arrival(messages, timeout)
  const [times, arrived] = await Promise.all([
    dialler.ask('write', messages, of.pace === 'tick' ? 0 : spacing),
    arriving
  ])
  const [start] = times
  const port = arrived[0].remotePort

  await Promise.all([
    acknowledged(captures.sender, port, messages, timeout),
    acknowledged(captures.receiver, port, messages, timeout)
  ])
  await dialler.ask('close')

  return {
    case: of.id,
    run,
    writes: times.map(time => microseconds(time - start)),
    arrivals: arrived.flatMap(({ bytes, time }) => Array.from({ length: bytes }, () => microseconds(time - start))),
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

/**
 * Enough for a segment that is sent three times
 */
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
