import { performance } from 'node:perf_hooks'
import { raceSignal } from 'race-signal'
import { addressOf, multiaddrOf } from './address.ts'
import type { Generation } from './generation.ts'
import type { Peer, Role, Sample } from './rival.ts'

/**
 * What a libp2p of any major version does for us
 */
export interface Libp2pNode {
  peerId: { toString(): string }
  getMultiaddrs(): Array<{ toString(): string }>
  handle(protocol: string, handler: (...args: any[]) => any, options: object): Promise<void>
  dial(address: any, options: object): Promise<Libp2pConnection>
  getConnections(): unknown[]
  stop(): unknown
}

export interface Libp2pConnection {
  newStream(protocol: string, options: object): Promise<any>
  close(options: object): Promise<void>
  abort(err: Error): void
}

export interface Libp2pStack {
  /**
   * `createLibp2p` of the stack.
   */
  createLibp2p(options: any): Promise<Libp2pNode>

  /**
   * The stack's transport, encrypter and muxer, as its `createLibp2p` takes them.
   */
  options: object

  /**
   * `multiaddr` of the stack.
   */
  multiaddr(address: string): any

  generation: Generation

  /**
   * Options for `newStream`.
   */
  streamOptions?: object
}

export const ECHO_PROTOCOL = '/fast-tcp/benchmark-echo/1.0.0'

const TIMEOUT = 30_000

/**
 * A node of a libp2p stack that times its dials. The steps are told apart by the
 * connection gater, which every stack asks between them.
 */
export async function libp2pPeer (stack: Libp2pStack, role: Role): Promise<Peer> {
  const marks = { connected: NaN, secured: NaN }

  // a listener is told its address by `listen`
  let node = role === 'dialler' ? await start([]) : undefined

  async function start (listen: string[]): Promise<Libp2pNode> {
    return stack.createLibp2p({
      ...stack.options,
      addresses: { listen },
      connectionManager: {
        inboundConnectionThreshold: 1_000_000,
        maxIncomingPendingConnections: 1_000_000,
        // libp2p 1 would dial known peers by itself
        minConnections: 0
      },
      connectionGater: {
        denyOutboundConnection: () => {
          marks.connected = performance.now()
          return false
        },
        denyOutboundEncryptedConnection: () => {
          marks.secured = performance.now()
          return false
        }
      }
    })
  }

  return {
    async listen (host) {
      node = await start([multiaddrOf({ host, port: 0 })])
      await node.handle(ECHO_PROTOCOL, stack.generation.echo, { maxInboundStreams: 10_000 })

      const peerId = node.peerId.toString()

      return node.getMultiaddrs().map(multiaddr => multiaddrOf(addressOf(multiaddr.toString()), peerId))
    },

    async dial (address): Promise<Sample> {
      if (node == null) {
        throw new Error('A listener does not dial')
      }

      const signal = AbortSignal.timeout(TIMEOUT)
      const target = stack.multiaddr(address)

      const started = performance.now()
      const connection = await node.dial(target, { signal })
      const opened = performance.now()

      try {
        const stream = await connection.newStream(ECHO_PROTOCOL, { ...stack.streamOptions, signal })
        const streamed = performance.now()
        await raceSignal(stack.generation.roundTrip(stream, Uint8Array.of(1)), signal)
        const echoed = performance.now()
        await connection.close({ signal })
        const closed = performance.now()

        return {
          connect: marks.connected - started,
          security: marks.secured - marks.connected,
          muxer: opened - marks.secured,
          stream: streamed - opened,
          firstByte: echoed - streamed,
          total: echoed - started,
          close: closed - echoed
        }
      } catch (err: any) {
        // the next dial would be given it
        connection.abort(err)
        throw err
      }
    },

    async close () {
      await node?.stop()
    }
  }
}
