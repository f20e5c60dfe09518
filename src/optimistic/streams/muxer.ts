import { MuxerClosedError, TimeoutError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { CLOSE_TIMEOUT } from '../../connection/fin-wait.ts'
import { setGated } from './early-dialer.ts'
import { StreamGate } from './early-stream-limit.ts'
import { isFilterable } from './filterable-stream.ts'
import { keepFin } from './kept-fin.ts'
import { Proposal } from './proposal.ts'
import { REASONS, isProposed, reasonFor } from './when-to-propose.ts'
import type { EarlyListener } from './early-listener.ts'
import type { FilterableStream } from './filterable-stream.ts'
import type { KnownProtocols } from './known-protocols.ts'
import type { ProposalOutcome } from './proposal.ts'
import type { HandlerLimits } from './protocol-limit.ts'
import type { CreateOptions, Reason } from './when-to-propose.ts'
import type { AbortOptions, MessageStream, Stream, StreamCloseEvent, StreamMuxer } from '@libp2p/interface'

/** What all muxers of a node share */
export interface OptimisticMuxerInit {
  known: KnownProtocols
  handlers(): HandlerLimits | undefined

  /** Abort a stream whose proposal has no reply after this many ms */
  replyTimeout: number

  onOutcome(outcome: ProposalOutcome): void
}

const decorator = Symbol('decorator')

interface DecoratedMuxer extends StreamMuxer {
  [decorator]: OptimisticMuxer
}

/** Makes a muxer propose the protocol of a stream, where {@link reasonFor} allows it */
export class OptimisticMuxer {
  readonly muxer: StreamMuxer
  readonly #init: OptimisticMuxerInit

  /** Until the muxer has an owner */
  #early?: EarlyListener
  readonly #gate: StreamGate

  /** Those whose FIN has not left yet. Created with the first */
  #proposals?: Set<Proposal>
  readonly #createStream: StreamMuxer['createStream']
  readonly #close: StreamMuxer['close']
  readonly #dispatchEvent: StreamMuxer['dispatchEvent']
  #isClosing = false

  /** `early` has made the muxer */
  constructor (connection: MessageStream, early: EarlyListener, init: OptimisticMuxerInit) {
    this.#init = init
    this.#early = early
    this.#gate = new StreamGate(connection)

    const muxer = early.muxer as DecoratedMuxer

    this.muxer = muxer
    // not bound, and the same functions for all muxers: others would take memory for each connection
    this.#createStream = muxer.createStream
    this.#close = muxer.close
    this.#dispatchEvent = muxer.dispatchEvent
    muxer[decorator] = this
    muxer.createStream = createStream
    muxer.close = close
    muxer.dispatchEvent = dispatchEvent

    setGated(muxer.streams)
  }

  async createStream (options: CreateOptions = {}): Promise<Stream> {
    const { protocol = '', signal } = options

    this.#early?.release()
    this.#early = undefined

    // libp2p's negotiation in full checks the signal itself
    if (isProposed(this.#reasonFor(options)) && signal?.aborted === true) {
      throw signal.reason
    }

    // await only if necessary: libp2p opens a stream in the turn that asks for it
    const held = this.#heldFins(protocol)

    if (held.length > 0) {
      await raceSignal(Promise.all(held), signal)
    }

    if (!this.#gate.tryEnter()) {
      await this.#gate.enter(signal)
    }

    return this.#open(options)
  }

  dispatchEvent (event: Event): boolean {
    if (event.type === 'stream') {
      // before the owner of the muxer has the stream
      keepFin((event as CustomEvent<Stream>).detail)
    }

    return this.#dispatchEvent.call(this.muxer, event)
  }

  async close (options?: AbortOptions): Promise<void> {
    this.#isClosing = true

    // a peer that does not reply must not delay the close
    const timer = setTimeout(() => {
      this.#proposals?.forEach(proposal => { proposal.release() })
    }, CLOSE_TIMEOUT)

    try {
      if (this.#proposals != null && this.#proposals.size > 0) {
        await closeAll([...this.#proposals], options)
      }

      await this.#close.call(this.muxer, options)
    } finally {
      clearTimeout(timer)
    }
  }

  /** The caller has entered the gate */
  async #open (options: CreateOptions): Promise<Stream> {
    const { protocol = '', signal } = options
    let stream: Stream

    try {
      if (this.#isClosing) {
        throw new MuxerClosedError('Muxer closed locally')
      }

      stream = await this.#createStream.call(this.muxer, options)
    } catch (err) {
      this.#gate.abandoned()
      throw err
    }

    // not before: others may have been opened, and the peer may have refused the protocol
    const wanted = this.#reasonFor(options)
    const reason = isProposed(wanted) && !isFilterable(stream, 'stream') ? 'foreign' : wanted

    if (isProposed(reason)) {
      // it may have fired since `createStream` was called
      if (signal?.aborted === true) {
        stream.abort(signal.reason)
        this.#gate.abandoned()
        throw signal.reason
      }

      this.#propose(stream as Stream & FilterableStream, protocol, signal)
    } else {
      this.#init.known.watch(this.muxer, stream)
      this.#awaitAnswer(stream)
    }

    stream.log(REASONS[reason], protocol)

    return stream
  }

  /**
   * Of the streams of a protocol that were closed before the peer has replied. They count at the
   * peer until their FIN has left, and its limit, which we do not know, may be one.
   */
  #heldFins (protocol: string): Array<Promise<void>> {
    const held: Array<Promise<void>> = []

    for (const proposal of this.#proposals ?? []) {
      if (proposal.protocol === protocol && proposal.finLeft != null) {
        held.push(proposal.finLeft)
      }
    }

    return held
  }

  #reasonFor (options: CreateOptions): Reason {
    const { known, handlers } = this.#init

    return reasonFor(options, {
      streams: this.muxer.streams,
      isKnown: protocol => known.has(this.muxer, protocol),
      handlers
    })
  }

  #propose (stream: Stream & FilterableStream, protocol: string, signal?: AbortSignal): void {
    const { known, onOutcome, replyTimeout } = this.#init
    const { muxer } = this
    const wasStored = known.has(muxer, protocol) ? undefined : known.wasStored(muxer, protocol)

    const proposal = new Proposal({
      stream,
      protocol,
      replyTimeout,
      signal,
      settle: async () => this.#settle(protocol),
      onEnd: () => { this.#forget(proposal) },
      onOutcome: (outcome, error) => {
        stream.log('proposal of %s was %s', protocol, outcome)
        onOutcome(outcome)

        switch (outcome) {
          case 'accepted':
            this.#gate.answered()
            known.add(muxer, protocol)
            break
          case 'refused':
            this.#gate.answered()
            known.revoke(muxer, protocol, wasStored)
            break
          case 'unanswered':
            known.doubt(muxer, protocol)

            if (error instanceof TimeoutError) {
              // silence is no answer
              this.#gate.abandoned()
            } else {
              this.#gate.answered()
            }

            break
          default:
            this.#gate.abandoned()
        }
      }
    })

    this.#proposals = (this.#proposals ?? new Set()).add(proposal)
    proposal.send()

    // tells libp2p that there is nothing left to negotiate
    stream.protocol = protocol
  }

  #forget (proposal: Proposal): void {
    this.#proposals?.delete(proposal)

    if (this.#proposals?.size === 0) {
      // an empty one takes 350 bytes
      this.#proposals = undefined
    }
  }

  /**
   * After a reply libp2p's own dialer awaits its peer store before the application has the stream.
   * The listener does too before its handler has it. So FIN waits as long, and a turn longer.
   */
  async #settle (protocol: string): Promise<void> {
    await this.#init.known.store(this.muxer, protocol)
    await new Promise(resolve => { setImmediate(resolve) })
  }

  /** libp2p negotiates this stream itself: the first message is the answer */
  #awaitAnswer (stream: Stream): void {
    const onMessage = (): void => {
      stream.removeEventListener('close', onClose)
      this.#gate.answered()
    }
    const onClose = (event: StreamCloseEvent): void => {
      stream.removeEventListener('message', onMessage)

      if (event.local === true) {
        this.#gate.abandoned()
      } else {
        this.#gate.answered()
      }
    }

    stream.addEventListener('message', onMessage, { once: true })
    stream.addEventListener('close', onClose, { once: true })
  }
}

async function createStream (this: DecoratedMuxer, options?: CreateOptions): Promise<Stream> {
  return this[decorator].createStream(options)
}

async function close (this: DecoratedMuxer, options?: AbortOptions): Promise<void> {
  await this[decorator].close(options)
}

function dispatchEvent (this: DecoratedMuxer, event: Event): boolean {
  return this[decorator].dispatchEvent(event)
}

/**
 * Closes the streams before the muxer does. A muxer's `close` ignores streams that are closing
 * already, and their last data would be lost. It also leaves the muxer open if one of the
 * streams ends with an error, such as a refused protocol.
 */
async function closeAll (proposals: Proposal[], options?: AbortOptions): Promise<void> {
  try {
    await raceSignal(Promise.all(proposals.map(async proposal => proposal.close())), options?.signal)
  } catch {
    // the signal ends this wait; what it means for the muxer, the muxer decides
  }
}
