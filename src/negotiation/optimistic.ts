import { InvalidParametersError } from '@libp2p/interface'
import { MAX_TIMEOUT, REPLY_TIMEOUT } from '../constants.ts'
import { OptimisticEncrypter } from './encrypter.ts'
import { forwardLifecycle } from './forward-lifecycle.ts'
import { OptimisticMuxerFactory } from './muxer.ts'
import type { OptimisticEncrypterComponents } from './encrypter.ts'
import type { OptimisticMuxerComponents } from './muxer.ts'
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
 * @throws {InvalidParametersError} if `replyTimeout` is no number of ms from 1 on. On creation of
 * the node, if the factory makes something else
 */
export function optimistic <Components> (factory: (components: Components) => StreamMuxerFactory, init?: OptimisticInit): (components: Components & OptimisticMuxerComponents) => StreamMuxerFactory
export function optimistic <Components, Extensions> (factory: (components: Components) => ConnectionEncrypter<Extensions>, init?: OptimisticInit): (components: Components & OptimisticEncrypterComponents) => ConnectionEncrypter<Extensions>
export function optimistic <Components> (factory: (components: Components) => StreamMuxerFactory | ConnectionEncrypter, init?: OptimisticInit | null) {
  const replyTimeout = init?.replyTimeout ?? REPLY_TIMEOUT

  if (typeof replyTimeout !== 'number' || !(replyTimeout >= 1)) {
    throw new InvalidParametersError(`replyTimeout must be a number of milliseconds from 1 on, not ${replyTimeout}`)
  }

  const timeout = Math.min(replyTimeout, MAX_TIMEOUT)

  return (components: Components & OptimisticMuxerComponents & OptimisticEncrypterComponents): StreamMuxerFactory | ConnectionEncrypter => {
    const made: unknown = factory(components)

    if (hasMethod<StreamMuxerFactory>(made, 'createStreamMuxer')) {
      return forwardLifecycle(made, new OptimisticMuxerFactory(made, components, timeout))
    }

    if (hasMethod<ConnectionEncrypter>(made, 'secureOutbound')) {
      return forwardLifecycle(made, new OptimisticEncrypter(made, components, timeout))
    }

    throw new InvalidParametersError('optimistic() takes a factory of a stream muxer or of a connection encrypter')
  }
}

function hasMethod <T> (made: unknown, method: keyof T): made is T {
  return typeof (made as T | undefined)?.[method] === 'function'
}
