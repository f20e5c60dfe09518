import { MuxerClosedError, serviceCapabilities } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { CLOSE_TIMEOUT } from '../constants.ts'
import { abortError } from '../errors.ts'
import { KnownProtocols } from './known-protocols.ts'
import { Proposal, isFilterable } from './proposal.ts'
import type { KnownProtocolsComponents } from './known-protocols.ts'
import type { FilterableStream, ProposalOutcome } from './proposal.ts'
import type { AbortOptions, ComponentLogger, CounterGroup, CreateStreamOptions, Logger, MessageStream, Metrics, NewStreamOptions, Stream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

export interface OptimisticMuxerComponents extends KnownProtocolsComponents {
  logger: ComponentLogger
  metrics?: Metrics
}

/** libp2p hands the options of `newStream` on to the muxer whole */
type CreateOptions = CreateStreamOptions & Pick<NewStreamOptions, 'negotiateFully'>

/**
 * Saves the round trip in which the two ends of a new stream agree on its
 * protocol: proposes the protocol and lets the application write at once.
 *
 * It does so only if there is just one protocol to propose, and either the
 * caller said `negotiateFully: false` or the peer is known to speak it. If a
 * peer refuses all the same, what the application wrote may be taken for
 * further proposals there (go-multistream#20), hence never on a guess.
 */
export class OptimisticMuxerFactory implements StreamMuxerFactory {
  readonly protocol: string
  readonly #factory: StreamMuxerFactory
  readonly #known: KnownProtocols
  readonly #log: Logger
  readonly #replyTimeout: number
  readonly #metrics?: CounterGroup<ProposalOutcome>

  constructor (factory: StreamMuxerFactory, components: OptimisticMuxerComponents, replyTimeout: number) {
    this.protocol = factory.protocol
    this.#factory = factory
    this.#replyTimeout = replyTimeout
    this.#log = components.logger.forComponent('libp2p:optimistic:muxer')
    this.#known = new KnownProtocols(components, this.#log)
    this.#metrics = components.metrics?.registerCounterGroup('libp2p_optimistic_streams_total', {
      label: 'outcome',
      help: 'Total count of streams that negotiated their protocol optimistically by outcome'
    })
  }

  readonly [Symbol.toStringTag] = 'libp2p-fast-tcp/optimistic-muxer'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/stream-multiplexing'
  ]

  createStreamMuxer (connection: MessageStream): StreamMuxer {
    const muxer = this.#factory.createStreamMuxer(connection)
    const createStream = muxer.createStream.bind(muxer)
    const close = muxer.close.bind(muxer)
    const proposals = new Set<Proposal>()
    let isClosing = false

    muxer.createStream = async (options: CreateOptions = {}) => {
      if (isClosing) {
        throw new MuxerClosedError('Muxer closed locally')
      }

      const protocol = this.#protocolToPresume(muxer, options)

      // negotiation in full would find out
      if (protocol != null && options.signal?.aborted === true) {
        throw abortError(options.signal)
      }

      const stream = await createStream(options)

      if (protocol != null && isFilterable(stream)) {
        this.#propose(muxer, stream, protocol, proposals)
      } else {
        this.#known.watch(muxer, stream)
      }

      return stream
    }

    muxer.close = async (options?: AbortOptions) => {
      isClosing = true

      // a peer that does not reply must not hold up the close
      const timer = setTimeout(() => {
        proposals.forEach(proposal => { proposal.release() })
      }, CLOSE_TIMEOUT)

      try {
        if (proposals.size > 0) {
          await closeAll([...proposals], options)
        }

        await close(options)
      } finally {
        clearTimeout(timer)
      }
    }

    return muxer
  }

  #protocolToPresume (muxer: StreamMuxer, { protocol, negotiateFully }: CreateOptions): string | undefined {
    if (protocol == null || negotiateFully === true) {
      return
    }

    if (negotiateFully === false || this.#known.has(muxer, protocol)) {
      return protocol
    }
  }

  #propose (muxer: StreamMuxer, stream: Stream & FilterableStream, protocol: string, proposals: Set<Proposal>): void {
    stream.log('presume %s', protocol)

    const proposal = new Proposal(stream, protocol, this.#replyTimeout, outcome => {
      stream.log('proposal of %s was %s', protocol, outcome)
      this.#metrics?.increment({ [outcome]: true })
      proposals.delete(proposal)

      if (outcome === 'accepted') {
        this.#known.add(muxer, protocol)
      } else if (outcome === 'refused') {
        void this.#known.revoke(muxer, protocol)
      } else if (outcome === 'unanswered') {
        this.#known.doubt(muxer, protocol)
      }
    })

    proposals.add(proposal)
    proposal.send()

    // tells libp2p that there is nothing left to negotiate
    stream.protocol = protocol
  }
}

/**
 * A muxer waits for the streams that it closes itself, and not for those that are
 * closing already: what their ends are about to say would be lost with it. And it
 * stays open if one of those that it closes ends with an error, as one does whose
 * protocol is refused meanwhile.
 */
async function closeAll (proposals: Proposal[], options?: AbortOptions): Promise<void> {
  try {
    await raceSignal(Promise.all(proposals.map(async proposal => proposal.close(options))), options?.signal)
  } catch {
    // the signal ends this wait, and the muxer decides what it means to it
  }
}
