import { ConnectionClosedError, serviceCapabilities } from '@libp2p/interface'
import { IncompatibleMuxerError } from '../../errors.ts'
import { decoratedFactory } from '../../flow/yamux-flows.ts'
import { expectIdentity, hasMembers, warnOnce } from '../../foreign/check.ts'
import { EarlyListener } from './early-listener.ts'
import { rejectFailedStreams } from './failed-stream.ts'
import { KnownProtocols } from './known-protocols.ts'
import { OptimisticMuxer } from './muxer.ts'
import type { KnownProtocolsComponents } from './known-protocols.ts'
import type { OptimisticMuxerInit } from './muxer.ts'
import type { ProposalOutcome } from './proposal.ts'
import type { HandlerLimits } from './protocol-limit.ts'
import type { ComponentLogger, CounterGroup, MessageStream, Metrics, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

export interface OptimisticMuxerComponents extends KnownProtocolsComponents {
  logger: ComponentLogger
  metrics?: Metrics

  /** Read the limits from this when a stream is opened: libp2p makes the muxers first */
  registrar?: HandlerLimits
}

/**
 * Makes muxers that save the round trip in which the two ends of a new stream agree on its
 * protocol: they propose the protocol and let the application write at once.
 */
export class OptimisticMuxerFactory implements StreamMuxerFactory {
  readonly protocol: string
  readonly [decoratedFactory]: StreamMuxerFactory
  readonly #shared: OptimisticMuxerInit

  /** The `streams` of every muxer that was decorated. Undefined before the first */
  #muxers?: WeakSet<object>

  constructor (factory: StreamMuxerFactory, components: OptimisticMuxerComponents, replyTimeout: number) {
    this.protocol = factory.protocol
    this[decoratedFactory] = factory

    const metrics: CounterGroup<ProposalOutcome> | undefined = components.metrics?.registerCounterGroup('libp2p_optimistic_streams_total', {
      label: 'outcome',
      help: 'Total count of streams that negotiated their protocol optimistically by outcome'
    })

    this.#shared = {
      known: new KnownProtocols(components, components.logger.forComponent('libp2p:optimistic:muxer')),
      handlers: () => components.registrar,
      replyTimeout,
      onOutcome: outcome => { metrics?.increment({ [outcome]: true }) }
    }

    components.events.addEventListener('connection:open', ({ detail: connection }) => {
      if (this.#muxers != null && connection.multiplexer === this.protocol) {
        expectIdentity('streams', this.#muxers.has(connection.streams))
      }

      rejectFailedStreams(connection)
    })
  }

  readonly [Symbol.toStringTag] = 'libp2p-fast-tcp/optimistic-muxer'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/stream-multiplexing'
  ]

  /**
   * @throws {ConnectionClosedError} if the connection has ended: nobody would tell the muxer
   * @throws {IncompatibleMuxerError} if the muxer is one for libp2p 2, whose factories look the same
   */
  createStreamMuxer (connection: MessageStream): StreamMuxer {
    if (connection.status !== 'open' && connection.status !== 'closing') {
      throw new ConnectionClosedError(`The connection is ${connection.status}`)
    }

    const early = new EarlyListener(connection, () => this.#createMuxer(connection))

    if (!hasMembers('muxer', early.muxer)) {
      return early.muxer
    }

    this.#muxers = (this.#muxers ?? new WeakSet()).add(early.muxer.streams)

    return new OptimisticMuxer(connection, early, this.#shared).muxer
  }

  #createMuxer (connection: MessageStream): StreamMuxer {
    const muxer = this[decoratedFactory].createStreamMuxer(connection)

    if (isOfLibp2p2(muxer)) {
      const error = new IncompatibleMuxerError(this.protocol)
      // libp2p tells nobody of an error on a listener
      warnOnce('muxer of libp2p 2', error.message)
      throw error
    }

    return muxer
  }
}

function isOfLibp2p2 (muxer: StreamMuxer & { newStream?: unknown }): boolean {
  return typeof muxer.newStream === 'function' && typeof muxer.createStream !== 'function'
}
