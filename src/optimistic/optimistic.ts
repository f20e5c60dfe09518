import { InvalidParametersError } from '@libp2p/interface'
import { MAX_TIMEOUT, checkOptions, milliseconds } from '../check-options.ts'
import { PROTOCOL_NEGOTIATION_TIMEOUT } from '../libp2p.ts'
import { OptimisticEncrypter } from './encrypter.ts'
import { forwardLifecycle } from './forward-lifecycle.ts'
import { OptimisticMuxerFactory } from './streams/muxer-factory.ts'
import type { OptimisticEncrypterComponents } from './encrypter.ts'
import type { Rule } from '../check-options.ts'
import type { OptimisticMuxerComponents } from './streams/muxer-factory.ts'
import type { ConnectionEncrypter, StreamMuxerFactory } from '@libp2p/interface'

export interface OptimisticInit {
  /**
   * How long a peer may take to answer a proposal, in ms, from 1 on. After that the
   * stream is aborted with a `TimeoutError`; if a muxer was proposed, the connection is
   *
   * @default 10_000
   */
  replyTimeout?: number
}

const RULES: Record<keyof OptimisticInit, Rule> = { replyTimeout: milliseconds(1) }

/**
 * Decorates a factory of a stream muxer or of a connection encrypter, as `createLibp2p` takes
 * it. What it makes then negotiates without waiting for the answer.
 *
 * - a stream muxer saves a round trip on every stream of one protocol, if the caller passes
 * `negotiateFully: false` or the peer is known to speak the protocol
 * - a connection encrypter saves a round trip on every dial to a peer that does not name its
 * muxers in the security handshake, if exactly one muxer is configured. It also makes Noise
 * encrypt what is sent with no `await` between as one message, with any peer. Streams of small
 * messages then take a fraction of the time
 *
 * @example
 *
 * ```TypeScript
 * import { noise } from '@libp2p/noise'
 * import { yamux } from '@libp2p/yamux'
 * import { createLibp2p } from 'libp2p'
 * import { optimistic, tcp } from 'libp2p-fast-tcp'
 *
 * const node = await createLibp2p({
 *   transports: [tcp()],
 *   connectionEncrypters: [optimistic(noise())],
 *   streamMuxers: [optimistic(yamux())]
 * })
 * ```
 *
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name. On creation of
 * the node, if the factory makes something else
 */
export function optimistic <Components> (factory: (components: Components) => StreamMuxerFactory, init?: OptimisticInit): (components: Components & OptimisticMuxerComponents) => StreamMuxerFactory
export function optimistic <Components, Extensions> (factory: (components: Components) => ConnectionEncrypter<Extensions>, init?: OptimisticInit): (components: Components & OptimisticEncrypterComponents) => ConnectionEncrypter<Extensions>
export function optimistic <Components> (factory: (components: Components) => StreamMuxerFactory | ConnectionEncrypter, init?: OptimisticInit | null) {
  checkOptions('optimistic()', init, RULES)

  const timeout = Math.min(init?.replyTimeout ?? PROTOCOL_NEGOTIATION_TIMEOUT, MAX_TIMEOUT)

  return (components: Components & OptimisticMuxerComponents & OptimisticEncrypterComponents): StreamMuxerFactory | ConnectionEncrypter => {
    const made: unknown = typeof factory === 'function' ? factory(components) : undefined

    if (hasMethod<StreamMuxerFactory>(made, 'createStreamMuxer')) {
      return forwardLifecycle(made, new OptimisticMuxerFactory(made, components, timeout))
    }

    if (hasMethod<ConnectionEncrypter>(made, 'secureOutbound')) {
      return forwardLifecycle(made, new OptimisticEncrypter(made, components, timeout))
    }

    throw new InvalidParametersError('optimistic() takes a factory of a stream muxer or of a connection encrypter, such as yamux() or noise()')
  }
}

function hasMethod <T> (made: unknown, method: keyof T): made is T {
  return typeof (made as T | undefined)?.[method] === 'function'
}
