import { MuxerClosedError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { CLOSE_TIMEOUT } from '../../constants.ts'
import { setGated } from './early-dialer.ts'
import { EarlyData } from './early-listener.ts'
import { StreamGate } from './early-stream-limit.ts'
import { StoreDelay } from './fin-delay.ts'
import { OutboundStreams } from './limits.ts'
import { Proposal, isFilterable } from './proposal.ts'
import type { KnownProtocols } from './known-protocols.ts'
import type { HandlerLimits } from './limits.ts'
import type { FilterableStream, ProposalOutcome } from './proposal.ts'
import type { AbortOptions, CreateStreamOptions, MessageStream, NewStreamOptions, Stream, StreamCloseEvent, StreamMuxer } from '@libp2p/interface'

export interface OptimisticMuxerInit {
  connection: MessageStream
  createMuxer(): StreamMuxer
  known: KnownProtocols
  handlers(): HandlerLimits | undefined

  /** Abort a stream whose proposal has no reply after this many ms */
  replyTimeout: number

  onOutcome(outcome: ProposalOutcome): void
}

/** libp2p passes all options of `newStream` on to the muxer */
type CreateOptions = CreateStreamOptions & Pick<NewStreamOptions, 'negotiateFully' | 'maxOutboundStreams'>

/** Why the protocol of a stream is proposed, or negotiated in full */
const REASONS = {
  asked: 'presume %s: the caller vouches for it',
  known: 'presume %s: the peer is known to speak it',
  limit: 'negotiate %s in full: one more stream may be too many for the peer',
  unknown: 'negotiate %s in full: the peer is not known to speak it',
  told: 'negotiate %s in full: the caller wants it',
  several: 'negotiate in full: there are several protocols'
}

type Reason = keyof typeof REASONS

/**
 * Makes a muxer propose the protocol of a stream. It does so if the caller names one protocol,
 * and either passes `negotiateFully: false` or the peer is known to speak it. It never guesses:
 * a peer that refuses may read what the application wrote as further proposals
 * (go-multistream#20).
 */
export class OptimisticMuxer {
  readonly muxer: StreamMuxer
  readonly #init: OptimisticMuxerInit
  readonly #early: EarlyData
  readonly #gate = new StreamGate()
  readonly #outbound: OutboundStreams
  readonly #proposals = new Set<Proposal>()
  readonly #storeDelay: StoreDelay
  readonly #createStream: StreamMuxer['createStream']
  readonly #close: StreamMuxer['close']
  #isClosing = false

  constructor (init: OptimisticMuxerInit) {
    this.#init = init
    this.#early = new EarlyData(init.connection, init.createMuxer)

    const muxer = this.muxer = this.#early.muxer

    this.#outbound = new OutboundStreams(muxer, init.handlers)
    this.#storeDelay = new StoreDelay(async protocol => init.known.store(muxer, protocol))
    this.#createStream = muxer.createStream.bind(muxer)
    this.#close = muxer.close.bind(muxer)
    muxer.createStream = async options => this.createStream(options)
    muxer.close = async options => this.close(options)

    setGated(muxer.streams)
    init.connection.addEventListener('close', () => { this.#gate.open() })
  }

  async createStream (options: CreateOptions = {}): Promise<Stream> {
    const { protocol = '', signal } = options
    const wanted = this.#reasonFor(options)

    this.#early.release()

    // libp2p's negotiation in full checks the signal itself
    if (isPresumed(wanted) && signal?.aborted === true) {
      throw signal.reason
    }

    // await only if necessary: libp2p opens a stream in the turn that asks for it
    const isReserved = isPresumed(wanted) && (this.#outbound.tryReserve(protocol, options) || await this.#outbound.room(protocol, options))

    try {
      if (!this.#gate.tryEnter()) {
        await this.#gate.enter(signal)
      }

      // the peer may have refused the protocol meanwhile
      return await this.#open(isPresumed(wanted) && !isReserved ? 'limit' : this.#reasonFor(options), options)
    } finally {
      if (isReserved) {
        this.#outbound.release(protocol)
      }
    }
  }

  async close (options?: AbortOptions): Promise<void> {
    this.#isClosing = true

    // a peer that does not reply must not delay the close
    const timer = setTimeout(() => {
      this.#proposals.forEach(proposal => { proposal.release() })
    }, CLOSE_TIMEOUT)

    try {
      if (this.#proposals.size > 0) {
        await closeAll([...this.#proposals], options)
      }

      await this.#close(options)
    } finally {
      clearTimeout(timer)
    }
  }

  /** The caller has entered the gate */
  async #open (reason: Reason, options: CreateOptions): Promise<Stream> {
    const { protocol = '', signal } = options
    let stream: Stream

    try {
      if (this.#isClosing) {
        throw new MuxerClosedError('Muxer closed locally')
      }

      stream = await this.#createStream(options)
    } catch (err) {
      this.#gate.abandoned()
      throw err
    }

    this.#outbound.opened(stream, protocol)
    stream.log(REASONS[reason], protocol)

    if (isPresumed(reason) && isFilterable(stream)) {
      this.#propose(stream, protocol, signal)
    } else {
      this.#init.known.watch(this.muxer, stream)
      this.#awaitAnswer(stream)
    }

    return stream
  }

  #reasonFor ({ protocol, negotiateFully }: CreateOptions): Reason {
    if (protocol == null) {
      return 'several'
    }

    switch (negotiateFully) {
      case false: return 'asked'
      case true: return 'told'
      default: return this.#init.known.has(this.muxer, protocol) ? 'known' : 'unknown'
    }
  }

  #propose (stream: Stream & FilterableStream, protocol: string, signal?: AbortSignal): void {
    const { known, onOutcome, replyTimeout } = this.#init
    const { muxer } = this
    const wasStored = known.has(muxer, protocol) ? undefined : known.isStored(muxer, protocol)

    const proposal = new Proposal({
      stream,
      protocol,
      replyTimeout,
      signal,
      settle: async () => this.#storeDelay.pass(protocol),
      onEnd: () => { this.#outbound.ended() },
      onOutcome: outcome => {
        stream.log('proposal of %s was %s', protocol, outcome)
        this.#proposals.delete(proposal)
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
            this.#gate.answered()
            known.doubt(muxer, protocol)
            break
          default:
            this.#gate.abandoned()
        }
      }
    })

    this.#proposals.add(proposal)
    this.#outbound.proposed(stream)
    proposal.send()

    // tells libp2p that there is nothing left to negotiate
    stream.protocol = protocol
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

function isPresumed (reason: Reason): boolean {
  return reason === 'asked' || reason === 'known'
}

/**
 * Closes the streams before the muxer does. A muxer's `close` ignores streams that are closing
 * already, and their last data would be lost. It also leaves the muxer open if one of the
 * streams ends with an error, such as a refused protocol.
 */
async function closeAll (proposals: Proposal[], options?: AbortOptions): Promise<void> {
  try {
    await raceSignal(Promise.all(proposals.map(async proposal => proposal.close(options))), options?.signal)
  } catch {
    // the signal ends this wait; what it means for the muxer, the muxer decides
  }
}
