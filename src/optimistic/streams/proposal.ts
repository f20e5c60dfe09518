import { ConnectionClosedError, TimeoutError, UnsupportedProtocolError } from '@libp2p/interface'
import { encodeProposal } from '../codec.ts'
import { ExpectedReply } from '../expected-reply.ts'
import { failStream, isGiven } from './failed-stream.ts'
import { FILTERED, restore } from './filterable-stream.ts'
import { HeldFin } from './held-fin.ts'
import type { FilterableStream } from './filterable-stream.ts'
import type { HalfClosableStream } from './held-fin.ts'
import type { StreamCloseEvent } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * How a proposal ended:
 * - `accepted`: the reply was as presumed and is taken out of the stream
 * - `refused`: the reply was another one; the stream is aborted with an
 * UnsupportedProtocolError
 * - `unanswered`: the stream ended before the reply was complete. FIN makes it an
 * UnsupportedProtocolError, the end of the connection a ConnectionClosedError, and
 * silence a TimeoutError; or the peer reset the stream
 * - `aborted`: the stream or the connection was aborted at this end before the reply
 * was complete
 */
export type ProposalOutcome = 'accepted' | 'refused' | 'unanswered' | 'aborted'

/** After this long the peer's handler listens or never will, in ms: libp2p first awaits its peer store */
const HANDLER_TIMEOUT = 1_000

export interface ProposalInit {
  stream: FilterableStream
  protocol: string

  /** Abort the stream if there is no reply after this many ms */
  replyTimeout: number

  /** Abort the stream if this fires before the reply: at once until the caller has the stream, then only as a timeout */
  signal?: AbortSignal

  /** `error` is what ends the stream, if it was not accepted */
  onOutcome(outcome: ProposalOutcome, error?: Error): void

  /**
   * Resolves as long after the reply as libp2p would let an application wait for the stream.
   * The FIN waits for it.
   */
  settle?(): Promise<unknown>

  /** The FIN has left, or never will */
  onEnd?(): void
}

/**
 * Proposes a protocol on a stream without waiting for the reply: the data that is sent next
 * follows at once. The reply is verified, and taken out of the incoming data.
 *
 * Only the FIN waits. A js-libp2p listener that receives FIN before it has chosen the
 * handler resets the stream, because it cannot put back what came behind the proposal.
 * If it receives FIN before the handler listens, a handler that reads with `for await`
 * never ends.
 */
export class Proposal {
  readonly protocol: string
  readonly #stream: FilterableStream
  readonly #reply: ExpectedReply
  readonly #init: ProposalInit
  #timeout: NodeJS.Timeout
  #state: 'awaiting' | ProposalOutcome = 'awaiting'

  /** When the reply was verified, by the clock of `performance.now()` */
  #repliedAt = 0

  /** Whether the handler of the peer has sent anything */
  #isAnswered = false

  /** Undefined for a connection: it has one end for both directions */
  readonly #fin?: HeldFin

  constructor (init: ProposalInit) {
    const { stream, protocol, replyTimeout, signal } = init

    this.#init = init
    this.#stream = stream
    this.protocol = protocol
    this.#reply = new ExpectedReply(encodeProposal(protocol))
    this.#timeout = this.#after(replyTimeout, () => {
      // after a stall of the process timers run before the event loop reads what came meanwhile
      this.#timeout = this.#after(0, () => { this.#onTimeout(replyTimeout) })
    })

    stream.onData = data => { this.#onData(data) }
    stream.onRemoteCloseWrite = () => { this.#onRemoteCloseWrite() }
    stream.onTransportClosed = err => { this.#onTransportClosed(err) }
    stream.addEventListener('close', this.#onClose)
    signal?.addEventListener('abort', this.#onSignal)

    if (isHalfClosable(stream)) {
      this.#fin = new HeldFin(stream, {
        delay: () => this.#delay(),
        onLeft: () => { init.onEnd?.() }
      })
    }
  }

  /** See {@link HeldFin}: undefined unless all data was sent and FIN waits */
  get finLeft (): Promise<void> | undefined {
    return this.#fin?.isHeld === true ? this.#fin.left : undefined
  }

  /**
   * Send the proposal.
   *
   * @throws {Error} the stream's error, if it cannot send
   */
  send (): void {
    try {
      this.#stream.send(encodeProposal(this.protocol))
    } catch (err: any) {
      this.#settle('aborted', err)
      throw err
    }
  }

  /** Let the FIN leave now, although the peer has not replied */
  release (): void {
    this.#fin?.allow()
  }

  /** Close the stream, and wait until its FIN has left or never will: see {@link HeldFin} */
  async close (): Promise<void> {
    await this.#fin?.close()
  }

  #after (ms: number, callback: () => void): NodeJS.Timeout {
    const timer = setTimeout(callback, ms)
    timer.unref?.()

    return timer
  }

  #onData (data: Uint8Array | Uint8ArrayList): void {
    const replyBytes = receive(this.#reply, data)

    if (this.#reply.state === 'verified') {
      this.#settle('accepted')
      this.#awaitAnswer()
      this.#stream.onData(data instanceof Uint8Array ? data.subarray(replyBytes) : data.sublist(replyBytes))
    } else if (this.#reply.state === 'refused') {
      this.#fail('refused', this.#unsupported('the peer refused it'))
    }
  }

  /** Data behind the reply comes from the handler, so the handler runs */
  #awaitAnswer (): void {
    const stream = this.#stream
    const onData = stream.onData.bind(stream)

    this.#repliedAt = performance.now()
    stream.onData = data => {
      if (data.byteLength > 0) {
        this.#isAnswered = true
        restore(stream, ['onData'])
      }

      onData(data)
    }
  }

  #onRemoteCloseWrite (): void {
    // muxers may report the end before they deliver the data of the same frame
    queueMicrotask(() => {
      if (this.#reply.state === 'awaiting') {
        this.#reply.end()
        this.#fail('unanswered', this.#unsupported('the peer closed the stream before it replied'))
      } else if (this.#reply.state === 'verified') {
        this.#stream.onRemoteCloseWrite()
      }
    })
  }

  #onTransportClosed (err: Error = new ConnectionClosedError(`The connection was closed before the peer replied to the proposal of ${this.protocol}`)): void {
    this.#settle('unanswered', err)
    this.#stream.onTransportClosed(err)
  }

  readonly #onClose = (event: StreamCloseEvent): void => {
    this.#settle(event.local === true ? 'aborted' : 'unanswered', event.error ?? new ConnectionClosedError())
  }

  /**
   * Ends the stream with the signal's reason, as libp2p's own negotiation does. That has ended when the caller has the
   * stream, who may then abort what else the signal belongs to. A timeout is still how long the negotiation may take
   */
  readonly #onSignal = (): void => {
    const reason = this.#init.signal?.reason

    if (!isGiven(this.#stream) || reason?.name === 'TimeoutError') {
      this.#giveUp('aborted', reason)
    }
  }

  #onTimeout (ms: number): void {
    this.#giveUp('unanswered', new TimeoutError(`Optimistic negotiation of ${this.protocol} failed: the peer did not reply within ${ms}ms`))
  }

  #giveUp (outcome: ProposalOutcome, error: Error): void {
    this.#settle(outcome, error)
    failStream(this.#stream, error)
    this.#stream.abort(error)
  }

  #unsupported (reason: string): Error {
    return new UnsupportedProtocolError(`Optimistic negotiation of ${this.protocol} failed: ${reason}`)
  }

  /** Drops later data, and lets the stream end with this error, whatever ends it first */
  #fail (outcome: ProposalOutcome, error: Error): void {
    const stream = this.#stream
    const abort = (): void => { stream.abort(error) }

    this.#settle(outcome, error)
    stream.onData = () => {}
    // a peer that reads application data as proposals may reset the stream right after its refusal
    stream.onRemoteReset = stream.onRemoteCloseWrite = stream.onTransportClosed = abort
    // let the muxer finish the frame first
    queueMicrotask(abort)
  }

  #settle (outcome: ProposalOutcome, error?: Error): void {
    if (this.#state !== 'awaiting') {
      return
    }

    const stream = this.#stream

    this.#state = outcome
    clearTimeout(this.#timeout)
    this.#init.signal?.removeEventListener('abort', this.#onSignal)
    stream.removeEventListener('close', this.#onClose)
    restore(stream, FILTERED)

    if (error == null) {
      this.#fin?.accept()
    } else {
      this.#fin?.fail(error)

      // who aborts the stream knows that it has failed
      if (outcome !== 'aborted') {
        failStream(stream, error)
      }
    }

    this.#init.onOutcome(outcome, error)
  }

  /** What the FIN waits for after the reply: until the handler of the peer listens */
  #delay (): Promise<unknown> | undefined {
    if (this.#state === 'accepted' && !this.#isAnswered && performance.now() - this.#repliedAt < HANDLER_TIMEOUT) {
      return this.#init.settle?.()
    }
  }
}

function isHalfClosable (stream: FilterableStream): stream is FilterableStream & HalfClosableStream {
  return typeof stream.sendCloseWrite === 'function'
}

/** @returns how many of the bytes are part of the reply */
function receive (reply: ExpectedReply, data: Uint8Array | Uint8ArrayList): number {
  let replyBytes = 0

  for (const bytes of data instanceof Uint8Array ? [data] : data) {
    const rest = reply.receive(bytes)
    replyBytes += bytes.byteLength - rest.byteLength

    if (reply.state !== 'awaiting') {
      break
    }
  }

  return replyBytes
}
