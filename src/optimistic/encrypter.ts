import { serviceCapabilities } from '@libp2p/interface'
import { PLAINTEXT } from '../libp2p.ts'
import { safeLogger } from '../safe-logger.ts'
import { safeCounters } from '../safe-metrics.ts'
import { ProposedConnection } from './proposed-connection.ts'
import type { ProposalOutcome } from './proposal.ts'
import type { ComponentLogger, ConnectionEncrypter, CounterGroup, Logger, MessageStream, Metrics, SecureConnectionOptions, SecuredConnection, StreamMuxerFactory, Upgrader, UpgraderOptions } from '@libp2p/interface'

export interface OptimisticEncrypterComponents {
  upgrader: Pick<Upgrader, 'getStreamMuxers'>
  logger: ComponentLogger
  metrics?: Metrics
}

/**
 * Saves the round trip in which the two ends of a secured connection agree on a muxer, if the
 * peer's handshake does not settle it. To that end it proposes the only muxer and starts it at
 * once.
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
    this.#metrics = safeCounters(components.metrics?.registerCounterGroup('libp2p_optimistic_muxers_total', {
      label: 'outcome',
      help: 'Total count of connections that negotiated their muxer optimistically by outcome'
    }))
  }

  readonly [Symbol.toStringTag] = 'libp2p-fast-tcp/optimistic-encrypter'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/connection-encryption'
  ]

  async secureInbound (connection: MessageStream, options?: SecureConnectionOptions): Promise<SecuredConnection<Extensions>> {
    return this.#encrypter.secureInbound(connection, options)
  }

  async secureOutbound (connection: MessageStream, options?: SecureConnectionOptions): Promise<SecuredConnection<Extensions>> {
    const secured = await this.#encrypter.secureOutbound(connection, options)
    const streamMuxer = this.#muxerToPresume(secured, options)

    if (streamMuxer == null) {
      return secured
    }

    this.#log('presume %s', streamMuxer.protocol)

    return {
      ...secured,
      streamMuxer,
      connection: new ProposedConnection(secured.connection, {
        protocol: streamMuxer.protocol,
        replyTimeout: this.#replyTimeout,
        onOutcome: outcome => {
          this.#log('proposal of %s was %s', streamMuxer.protocol, outcome)
          this.#metrics?.increment({ [outcome]: true })
        }
      })
    }
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
