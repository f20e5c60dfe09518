import { InvalidParametersError } from '@libp2p/interface'
import { MAX_TIMEOUT, checkOptions, milliseconds } from '../check-options.ts'
import { PROTOCOL_NEGOTIATION_TIMEOUT } from '../libp2p.ts'
import { OptimisticEncrypter } from './encrypter.ts'
import { forwardLifecycle } from './forward-lifecycle.ts'
import type { OptimisticEncrypterComponents } from './encrypter.ts'
import type { Rule } from '../check-options.ts'
import type { ConnectionEncrypter } from '@libp2p/interface'

export interface OptimisticInit {
  /**
   * How long a peer may take to answer a proposal, in ms, from 1 on. After that the
   * connection is aborted with a `TimeoutError`
   *
   * @default 10_000
   */
  replyTimeout?: number
}

const RULES: Record<keyof OptimisticInit, Rule> = { replyTimeout: milliseconds(1) }

/**
 * Decorates a factory of a connection encrypter, as `createLibp2p` takes it. A dial to a peer that does not name its
 * muxers in the security handshake saves a round trip, if exactly one muxer is configured.
 *
 * @example
 *
 * ```TypeScript
 * import { noise } from '@libp2p/noise'
 * import { createLibp2p } from 'libp2p'
 * import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
 *
 * const node = await createLibp2p({
 *   transports: [tcp()],
 *   connectionEncrypters: [optimistic(noise())],
 *   streamMuxers: [yamux()]
 * })
 * ```
 *
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name. On creation of
 * the node, if the factory makes something else
 */
export function optimistic <Components, Extensions> (factory: (components: Components) => ConnectionEncrypter<Extensions>, init?: OptimisticInit | null): (components: Components & OptimisticEncrypterComponents) => ConnectionEncrypter<Extensions> {
  checkOptions('optimistic()', init, RULES)

  const timeout = Math.min(init?.replyTimeout ?? PROTOCOL_NEGOTIATION_TIMEOUT, MAX_TIMEOUT)

  return components => {
    const made: unknown = typeof factory === 'function' ? factory(components) : undefined

    if (hasMethod<ConnectionEncrypter<Extensions>>(made, 'secureOutbound')) {
      return forwardLifecycle(made, new OptimisticEncrypter(made, components, timeout))
    }

    throw new InvalidParametersError('optimistic() takes a factory of a connection encrypter, such as noise(). The muxer that negotiates optimistically is yamux() of libp2p-fast-tcp')
  }
}

function hasMethod <T> (made: unknown, method: keyof T): made is T {
  return typeof (made as T | undefined)?.[method] === 'function'
}
