import { UnsupportedOperationError, serviceCapabilities, transportSymbol } from '@libp2p/interface'
import type { TCPDialEvents } from './dial-events.ts'
import type { Connection, Listener, Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/**
 * Takes the place of the transport where bundlers honour the `browser` field of
 * package.json: browsers open no TCP sockets.
 */
export class TCP implements Transport<TCPDialEvents> {
  constructor () {
    throw new UnsupportedOperationError('TCP connections are not possible in browsers')
  }

  readonly [transportSymbol] = true

  readonly [Symbol.toStringTag] = '@libp2p/tcp'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/transport'
  ]

  async dial (): Promise<Connection> {
    throw new UnsupportedOperationError('TCP connections are not possible in browsers')
  }

  createListener (): Listener {
    throw new UnsupportedOperationError('TCP connections are not possible in browsers')
  }

  listenFilter (): Multiaddr[] {
    return []
  }

  dialFilter (): Multiaddr[] {
    return []
  }
}
