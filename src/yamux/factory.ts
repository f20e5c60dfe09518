import { ConnectionClosedError, serviceCapabilities } from '@libp2p/interface'
import { YAMUX } from '../libp2p.ts'
import { KnownProtocols } from '../optimistic/known-protocols.ts'
import { safeCounters } from '../safe-metrics.ts'
import { YamuxMuxer } from './muxer.ts'
import { NodeUnread } from './node-unread.ts'
import type { YamuxShared } from './muxer.ts'
import type { YamuxSettings } from './settings.ts'
import type { KnownProtocolsComponents } from '../optimistic/known-protocols.ts'
import type { ProposalOutcome } from '../optimistic/proposal.ts'
import type { HandlerLimits } from '../optimistic/protocol-limit.ts'
import type { ComponentLogger, MessageStream, Metrics, StreamMuxerFactory } from '@libp2p/interface'

/** What libp2p hands to a factory. With no `events`, `peerStore` and `logger` nothing tells what peers speak */
export interface YamuxComponents extends Partial<KnownProtocolsComponents> {
  logger?: ComponentLogger
  metrics?: Metrics

  /** Read from this when a stream is opened: libp2p makes the muxers first */
  registrar?: HandlerLimits
}

/** Makes the muxers of a node */
export class Yamux implements StreamMuxerFactory<YamuxMuxer> {
  readonly protocol = YAMUX
  readonly #shared: YamuxShared

  constructor (settings: YamuxSettings, components: YamuxComponents = {}) {
    const { events, logger, metrics, peerStore } = components
    const outcomes = safeCounters<ProposalOutcome>(metrics?.registerCounterGroup('libp2p_optimistic_streams_total', {
      label: 'outcome',
      help: 'Total count of streams that negotiated their protocol optimistically by outcome'
    }))

    this.#shared = {
      settings,
      unread: new NodeUnread(settings.maxUnread),
      known: settings.optimistic && events != null && peerStore != null && logger != null
        ? new KnownProtocols({ events, peerStore }, logger.forComponent('libp2p:optimistic:muxer'))
        : undefined,
      handlers: () => components.registrar,
      onOutcome: outcome => { outcomes?.increment({ [outcome]: true }) }
    }
  }

  readonly [Symbol.toStringTag] = '@libp2p/yamux'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/stream-multiplexing'
  ]

  /**
   * @throws {ConnectionClosedError} if the connection has ended: nobody would tell the muxer
   */
  createStreamMuxer (maConn: MessageStream): YamuxMuxer {
    if (maConn.status !== 'open' && maConn.status !== 'closing') {
      throw new ConnectionClosedError(`The connection is ${maConn.status}`)
    }

    return new YamuxMuxer(maConn, this.#shared)
  }
}
