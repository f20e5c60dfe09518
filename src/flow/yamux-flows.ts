import { ConnectionClosedError } from '@libp2p/interface'
import { hasMembers } from '../foreign/check.ts'
import { YAMUX } from '../libp2p.ts'
import { YamuxFlow } from './yamux-flow.ts'
import type { YamuxFlowInit } from './yamux-flow.ts'
import type { Connection, MessageStream, StreamMuxer, StreamMuxerFactory, Upgrader } from '@libp2p/interface'

/** The factory that a decorator makes its muxers with: what passes between them and their connection is that muxer's */
export const decoratedFactory = Symbol.for('libp2p-fast-tcp/decorated-factory')

interface DecoratingFactory extends StreamMuxerFactory {
  readonly [decoratedFactory]?: DecoratingFactory
}

/** A factory serves one node, which may have several transports */
const adopted = new WeakSet<StreamMuxerFactory>()

/**
 * Gives the muxers of yamux that a node makes a {@link YamuxFlow}. A transport is never given the muxer of
 * its connection, nor any connection that is encrypted, so the factories that the upgrader has are changed.
 */
export class YamuxFlows {
  readonly #init: YamuxFlowInit

  /** Key: the streams of the muxer, which are also those of the upgraded connection */
  readonly #flows = new WeakMap<object, YamuxFlow>()

  constructor (init: YamuxFlowInit) {
    this.#init = init
  }

  /** `upgrader` upgrades connections of the transport */
  adopt (upgrader?: Partial<Pick<Upgrader, 'getStreamMuxers'>>): void {
    // a program may have an upgrader of its own, with no muxers
    const factories: Map<string, DecoratingFactory> | undefined = upgrader?.getStreamMuxers?.()
    let factory = factories?.get(YAMUX)

    while (factory?.[decoratedFactory] != null) {
      factory = factory[decoratedFactory]
    }

    if (factory == null || adopted.has(factory) || !hasMembers('muxerFactory', factory)) {
      return
    }

    const { createStreamMuxer } = factory

    adopted.add(factory)
    factory.createStreamMuxer = connection => this.#create(connection, () => createStreamMuxer.call(factory, connection))
  }

  /** The connection is one of another transport: yamux does as it likes */
  leave ({ streams }: Connection): void {
    this.#flows.get(streams)?.end()
    this.#flows.delete(streams)
  }

  /** Undefined if the connection has another muxer */
  of ({ streams }: Connection): YamuxFlow | undefined {
    return this.#flows.get(streams)
  }

  #create (connection: MessageStream, createMuxer: () => StreamMuxer): StreamMuxer {
    if (connection.status !== 'open' && connection.status !== 'closing') {
      const muxer = createMuxer()

      try {
        // nobody else tells it, and its pings would keep the process alive
        muxer.abort(new ConnectionClosedError(`The connection is ${connection.status}`))
      } catch {
        // it could not tell the peer
      }

      return muxer
    }

    if (!hasMembers('belowMuxer', connection)) {
      return createMuxer()
    }

    const flow = new YamuxFlow(connection, createMuxer, this.#init)
    const { streams } = flow.muxer

    // one that was made for libp2p 2 may have none
    if (streams != null) {
      this.#flows.set(streams, flow)
    }

    return flow.muxer
  }
}
