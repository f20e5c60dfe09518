import { multiaddr } from '@multiformats/multiaddr'
import { multiaddrOf } from '../rivals/address.ts'
import { MessageChannel } from './message-channel.ts'
import { allCalledBack } from './open-connections.ts'
import type { Peer } from './contender.ts'
import type { Connection, Libp2p, NewStreamOptions } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

export type NodeOptions = Pick<Libp2pOptions, 'transports' | 'connectionEncrypters' | 'streamMuxers'>

const PROTOCOL = '/fast-tcp/benchmark-throughput/1.0.0'

/**
 * Limits would show instead of costs.
 */
const PLENTY = 1_000_000

/**
 * Streams of a whole libp2p node over a transport, an encrypter and a muxer.
 */
export async function nodePeer (options: NodeOptions, streamOptions: NewStreamOptions = {}): Promise<Peer> {
  const { createLibp2p } = await import('libp2p')
  const nodes: Libp2p[] = []
  let diallerStarting: Promise<Libp2p> | undefined
  const newStreamOptions = { ...streamOptions, maxOutboundStreams: PLENTY }

  async function start (listen: string[]): Promise<Libp2p> {
    const node = await createLibp2p({
      ...options,
      addresses: { listen },
      // it would ping every connection every ten seconds
      connectionMonitor: { enabled: false },
      connectionManager: {
        maxConnections: PLENTY,
        inboundConnectionThreshold: PLENTY,
        maxIncomingPendingConnections: PLENTY,
        maxDialQueueLength: PLENTY
      }
    })
    nodes.push(node)

    return node
  }

  const connections = (): Connection[] => nodes.flatMap(node => node.getConnections())

  return {
    async listen (hosts, onChannel) {
      const node = await start(hosts.map(host => multiaddrOf({ host, port: 0 })))

      await node.handle(PROTOCOL, stream => {
        stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
        onChannel?.(new MessageChannel(stream, async () => stream.close()))
      }, { maxInboundStreams: PLENTY })

      // without the peer id: dials of one peer id at the same time would be joined
      return node.getMultiaddrs().map(address => address.toString().replace(/\/p2p\/.*$/, ''))
    },

    async dial (address) {
      diallerStarting ??= start([])
      const node = await diallerStarting
      const connection = await node.dial(multiaddr(address), { force: true })

      return {
        async open () {
          const stream = await connection.newStream(PROTOCOL, newStreamOptions)

          return new MessageChannel(stream, async () => stream.close())
        },
        close: async () => connection.close()
      }
    },

    connections: () => connections().length,

    allClosed: async () => allCalledBack(connections(), (connection, callback) => { connection.addEventListener('close', callback, { once: true }) }),

    async close () {
      await Promise.all(nodes.map(async node => node.stop()))
    }
  }
}
