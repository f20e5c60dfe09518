import { ConnectionClosedError, StreamStateError, TimeoutError, UnsupportedProtocolError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { encodeProposal } from './codec.ts'
import { ExpectedReply } from './expected-reply.ts'
import type { AbortOptions, MessageStream, Stream, StreamCloseEvent } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * What came of a proposal:
 * - `accepted`: the reply was as presumed and is taken out of the stream
 * - `refused`: it was another one; the stream is aborted with an
 * UnsupportedProtocolError
 * - `unanswered`: before the reply was whole the peer sent FIN, where the stream is
 * aborted with an UnsupportedProtocolError, or it reset the stream, or the
 * connection ended, where it is a ConnectionClosedError, or nothing was heard for so
 * long that it is a TimeoutError
 * - `aborted`: the stream or the whole connection was aborted at this end before the
 * reply was whole
 */
export type ProposalOutcome = 'accepted' | 'refused' | 'unanswered' | 'aborted'

/**
 * A message stream whose data passes through public methods, as it does in all
 * that extend AbstractMessageStream of `@libp2p/utils`. They are not part of the
 * interface, so this is tested before it is relied on.
 */
export interface FilterableStream extends MessageStream {
  writeStatus: Stream['writeStatus']
  remoteWriteStatus: Stream['remoteWriteStatus']
  onData(data: Uint8Array | Uint8ArrayList): void
  onRemoteCloseWrite(): void
  onRemoteReset(): void
  onTransportClosed(err?: Error): void

  /** Where the two directions are closed one by one, as those of AbstractStream are */
  sendCloseWrite?(options?: AbortOptions): Promise<void>
}

const REQUIRED = ['onData', 'onRemoteCloseWrite', 'onRemoteReset', 'onTransportClosed'] as const
const REPLACED = ['onData', 'onRemoteCloseWrite', 'onTransportClosed', 'sendCloseWrite'] as const

/** Whether the data of a stream can be filtered, and nobody else does */
export function isFilterable (stream: MessageStream): stream is FilterableStream {
  return REQUIRED.every(method => typeof (stream as FilterableStream)[method] === 'function') &&
    !REPLACED.some(method => Object.hasOwn(stream, method))
}

/**
 * A protocol that is proposed on a stream without waiting for the reply:
 * whatever is sent next follows at once. The reply is verified and taken out of
 * the incoming data when it comes; from then on nothing stands in the way of the
 * stream.
 *
 * Only the end of what is written waits for the reply: js-libp2p listeners that
 * receive it before they have chosen the handler reset the stream, because they
 * cannot put back what came behind the proposal.
 */
export class Proposal {
  readonly #stream: FilterableStream
  readonly #protocol: string
  readonly #reply: ExpectedReply
  readonly #onOutcome: (outcome: ProposalOutcome) => void
  #timeout: NodeJS.Timeout
  #outcome?: ProposalOutcome

  /** Lets the end of what is written pass */
  readonly #end = Promise.withResolvers<void>()

  /** Resolves once that has left or never will; undefined while nobody has closed the stream */
  #ended?: Promise<void>

  /** Resolves once `close` of the stream did, if it was this proposal's */
  #closed?: Promise<void>

  /** If there is no reply after `replyTimeout` ms the stream is aborted */
  constructor (stream: FilterableStream, protocol: string, replyTimeout: number, onOutcome: (outcome: ProposalOutcome) => void) {
    this.#stream = stream
    this.#protocol = protocol
    this.#reply = new ExpectedReply(encodeProposal(protocol))
    this.#onOutcome = onOutcome
    this.#end.promise.catch(() => {})
    this.#timeout = this.#after(replyTimeout, () => {
      // after a stall timers run before the event loop looks at what came in meanwhile
      this.#timeout = this.#after(0, () => { this.#onTimeout(replyTimeout) })
    })

    stream.onData = data => { this.#onData(data) }
    stream.onRemoteCloseWrite = () => { this.#onRemoteCloseWrite() }
    stream.onTransportClosed = err => { this.#onTransportClosed(err) }
    stream.addEventListener('close', this.#onClose)
    this.#holdCloseWrite()
  }

  /**
   * Send the proposal.
   *
   * @throws {Error} the stream's error, if it cannot send
   */
  send (): void {
    try {
      this.#stream.send(encodeProposal(this.#protocol))
    } catch (err: any) {
      this.#settle('aborted', err)
      throw err
    }
  }

  /** Let the end of what is written pass, although the peer has not replied */
  release (): void {
    this.#end.resolve()
  }

  /**
   * Close the stream, unless somebody has begun to, and wait for the reply that holds
   * up its end, whatever comes of it. Whoever waits for the stream's own queue before
   * that is not waited for, as a muxer does not.
   */
  async close (options?: AbortOptions): Promise<void> {
    this.#closed ??= this.#stream.close(options).catch(err => {
      this.#stream.log('could not be closed - %e', err)
    })

    await this.#closed
    await this.#ended
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
      this.#stream.onData(data instanceof Uint8Array ? data.subarray(replyBytes) : data.sublist(replyBytes))
    } else if (this.#reply.state === 'refused') {
      this.#fail('refused', this.#unsupported('the peer refused it'))
    }
  }

  #onRemoteCloseWrite (): void {
    // muxers may tell of the end before they hand over the data of the same frame
    queueMicrotask(() => {
      if (this.#reply.state === 'awaiting') {
        this.#reply.end()
        this.#fail('unanswered', this.#unsupported('the peer closed the stream before it replied'))
      } else if (this.#reply.state === 'verified') {
        this.#stream.onRemoteCloseWrite()
      }
    })
  }

  #onTransportClosed (err: Error = new ConnectionClosedError(`The connection was closed before the peer replied to the proposal of ${this.#protocol}`)): void {
    this.#settle('unanswered', err)
    this.#stream.onTransportClosed(err)
  }

  readonly #onClose = (event: StreamCloseEvent): void => {
    this.#settle(event.local === true ? 'aborted' : 'unanswered', event.error ?? new ConnectionClosedError())
  }

  #onTimeout (ms: number): void {
    const error = new TimeoutError(`Optimistic negotiation of ${this.#protocol} failed: the peer did not reply within ${ms}ms`)

    this.#settle('unanswered', error)
    this.#stream.abort(error)
  }

  #unsupported (reason: string): Error {
    return new UnsupportedProtocolError(`Optimistic negotiation of ${this.#protocol} failed: ${reason}`)
  }

  /** Nothing that follows is for anybody, and whatever ends the stream first, it ends with this error */
  #fail (outcome: ProposalOutcome, error: Error): void {
    const stream = this.#stream
    const abort = (): void => { stream.abort(error) }

    this.#settle(outcome, error)
    stream.onData = () => {}
    // a peer that takes what was written for further proposals may give up right behind its refusal
    stream.onRemoteReset = stream.onRemoteCloseWrite = stream.onTransportClosed = abort
    // let the muxer finish with the frame first
    queueMicrotask(abort)
  }

  #settle (outcome: ProposalOutcome, error?: Error): void {
    if (this.#outcome != null) {
      return
    }

    this.#outcome = outcome
    clearTimeout(this.#timeout)
    this.#stream.removeEventListener('close', this.#onClose)
    // back to the methods of the class
    REPLACED.forEach(method => Reflect.deleteProperty(this.#stream, method))

    if (error == null) {
      this.#end.resolve()
    } else {
      this.#end.reject(error)

      if (outcome !== 'aborted') {
        // whoever begins to read only now would take it for an empty answer
        this.#stream[Symbol.asyncIterator] = () => failed(error)
      }
    }

    this.#onOutcome(outcome)
  }

  #holdCloseWrite (): void {
    const stream = this.#stream
    const sendCloseWrite = stream.sendCloseWrite?.bind(stream)

    if (sendCloseWrite == null) {
      return
    }

    stream.sendCloseWrite = async options => {
      const sent = this.#end.promise.then(async () => {
        // the connection ended with what came with the reply
        if (stream.status === 'closed') {
          return
        }

        // whoever read what came with the reply has aborted it
        if (stream.status === 'aborted' || stream.status === 'reset') {
          throw new StreamStateError(`Cannot end a stream that is ${stream.status}`)
        }

        await sendCloseWrite()

        // what `close` of the stream does too, unless its signal has ended its wait: that does not end the close
        stream.writeStatus = 'closed'

        if (stream.remoteWriteStatus === 'closed') {
          stream.onTransportClosed()
        }
      })

      this.#ended = sent.catch(() => {})
      await raceSignal(sent, options?.signal)
    }
  }
}

async function * failed (error: Error): AsyncGenerator<never> {
  yield await Promise.reject(error)
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
