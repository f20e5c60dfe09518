import { serviceCapabilities } from '@libp2p/interface'
import { NOISE, PLAINTEXT } from '../libp2p.ts'
import { safeLogger } from '../safe-logger.ts'
import { coalesceSends } from './noise-batches.ts'
import { isFilterable } from './streams/filterable-stream.ts'
import { Proposal } from './streams/proposal.ts'
import type { ProposalOutcome } from './streams/proposal.ts'
import type { ComponentLogger, ConnectionEncrypter, CounterGroup, Logger, MessageStream, Metrics, SecureConnectionOptions, SecuredConnection, StreamMuxerFactory, Upgrader, UpgraderOptions } from '@libp2p/interface'

export interface OptimisticEncrypterComponents {
  upgrader: Pick<Upgrader, 'getStreamMuxers'>
  logger: ComponentLogger
  metrics?: Metrics
}

/**
 * Saves the round trip in which the two ends of a secured connection agree on a muxer, if the
 * peer's handshake does not settle it. To that end it proposes the only muxer and starts it at
 * once. It also makes Noise encrypt what is sent with no `await` between as one message.
 */
export class OptimisticEncrypter <Extensions = unknown> implements ConnectionEncrypter<Extensions> {
  readonly protocol: string
  readonly #encrypter: ConnectionEncrypter<Extensions>

  /** Read the upgrader from this when it is needed: libp2p makes the encrypters first */
  readonly #components: OptimisticEncrypterComponents
  readonly #log: Logger
  readonly #replyTimeout: number
  readonly #metrics?: CounterGroup<ProposalOutcome>

  constructor (encrypter: ConnectionEncrypter<Extensions>, components: OptimisticEncrypterComponents, replyTimeout: number) {
    this.protocol = encrypter.protocol
    this.#encrypter = encrypter
    this.#replyTimeout = replyTimeout
    this.#components = components
    this.#log = safeLogger(components.logger).forComponent('libp2p:optimistic:encrypter')
    this.#metrics = components.metrics?.registerCounterGroup('libp2p_optimistic_muxers_total', {
      label: 'outcome',
      help: 'Total count of connections that negotiated their muxer optimistically by outcome'
    })
  }

  readonly [Symbol.toStringTag] = 'libp2p-fast-tcp/optimistic-encrypter'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/connection-encryption'
  ]

  async secureInbound (connection: MessageStream, options?: SecureConnectionOptions): Promise<SecuredConnection<Extensions>> {
    return this.#coalescing(connection, await this.#encrypter.secureInbound(connection, options))
  }

  async secureOutbound (connection: MessageStream, options?: SecureConnectionOptions): Promise<SecuredConnection<Extensions>> {
    const secured = this.#coalescing(connection, await this.#encrypter.secureOutbound(connection, options))
    const muxer = this.#muxerToPresume(secured, options)

    if (muxer == null || !isFilterable(secured.connection, 'securedConnection')) {
      return secured
    }

    this.#log('presume %s', muxer.protocol)

    new Proposal({
      stream: secured.connection,
      protocol: muxer.protocol,
      replyTimeout: this.#replyTimeout,
      onOutcome: outcome => {
        this.#log('proposal of %s was %s', muxer.protocol, outcome)
        this.#metrics?.increment({ [outcome]: true })
      }
    }).send()

    return { ...secured, streamMuxer: muxer }
  }

  /** Only Noise: other encrypters may keep the buffers, or encrypt larger pieces themselves */
  #coalescing (connection: MessageStream, secured: SecuredConnection<Extensions>): SecuredConnection<Extensions> {
    if (this.protocol === NOISE) {
      coalesceSends(secured.connection, connection)
    }

    return secured
  }

  /** The only configured muxer, unless the handshake or the caller of the dial chose one */
  #muxerToPresume (secured: SecuredConnection<Extensions>, options: SecureConnectionOptions & Partial<UpgraderOptions> = {}): StreamMuxerFactory | undefined {
    if (this.protocol === PLAINTEXT || secured.streamMuxer != null || options.skipStreamMuxerNegotiation === true || options.muxerFactory != null) {
      return
    }

    const muxers = [...this.#components.upgrader.getStreamMuxers().values()]

    return muxers.length === 1 ? muxers[0] : undefined
  }
}
