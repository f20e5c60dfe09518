import type { ConnectionEncrypter, SecuredConnection } from '@libp2p/interface'

export type Encrypter = (components: any) => ConnectionEncrypter
type Secure = () => Promise<SecuredConnection>

/**
 * An encrypter with something done around the handshake of who is dialed
 */
export function withHandshake (encrypter: Encrypter, around: (secure: Secure) => Promise<SecuredConnection>): Encrypter {
  return components => {
    const wrapped = encrypter(components)

    return {
      protocol: wrapped.protocol,
      secureInbound: async (connection, options) => around(async () => wrapped.secureInbound(connection, options)),
      secureOutbound: async (connection, options) => wrapped.secureOutbound(connection, options)
    }
  }
}

/**
 * An encrypter that carries no muxer, like the one of Rust, so that the muxer has
 * to be negotiated after it
 */
export function withoutEarlyMuxer (encrypter: Encrypter): Encrypter {
  return components => {
    const wrapped = encrypter(components)

    return {
      protocol: wrapped.protocol,
      secureInbound: async (connection, options) => wrapped.secureInbound(connection, { ...options, skipStreamMuxerNegotiation: true }),
      secureOutbound: async (connection, options) => wrapped.secureOutbound(connection, { ...options, skipStreamMuxerNegotiation: true })
    }
  }
}
