import { addressOf, multiaddrOf } from './address.ts'
import type { Channel, OpenOptions, Peer } from './contender.ts'

/** What a libp2p of any major version does for us */
interface Node {
  peerId: { toString(): string }
  getMultiaddrs(): Array<{ toString(): string }>
  handle(protocol: string, handler: (argument: any) => void, options: object): Promise<void>
  dial(address: any, options: object): Promise<Connection>
  getConnections(): Connection[]
  stop(): unknown
}

interface Connection {
  newStream(protocol: string, options: object): Promise<any>
  close(options: object): Promise<void>
}

export interface Stack {
  createLibp2p(options: any): Promise<any>
  multiaddr(address: string): any

  /** Its transport, encrypter and muxer, as its `createLibp2p` takes them. */
  options: object
  toChannel(stream: any): Channel
  streamOptions?: object
}

const PROTOCOL = '/fast-tcp/benchmark/1.0.0'

/** Limits would show instead of costs. */
const PLENTY = 1_000_000

/** A node whose limits are out of reach, and which does nothing by itself */
export async function startNode ({ createLibp2p, options }: Stack, more: object): Promise<any> {
  return createLibp2p({
    ...options,
    ...more,
    // it would ping every connection every ten seconds
    connectionMonitor: { enabled: false },
    connectionManager: {
      maxConnections: PLENTY,
      inboundConnectionThreshold: PLENTY,
      maxIncomingPendingConnections: PLENTY,
      maxDialQueueLength: PLENTY,
      // libp2p 1 would dial known peers by itself
      minConnections: 0
    }
  })
}

export function nodePeer (stack: Stack, { steps = false }: OpenOptions = {}): Peer {
  const nodes: Node[] = []
  const marks = { connected: NaN, secured: NaN }
  let dialer: Promise<Node> | undefined

  async function start (listen: string[]): Promise<Node> {
    const node = await startNode(stack, {
      addresses: { listen },
      // every stack asks it between the steps of a dial
      connectionGater: !steps
        ? {}
        : {
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
    nodes.push(node)

    return node
  }

  const connections = (): Connection[] => nodes.flatMap(node => node.getConnections())

  return {
    async listen (hosts, onChannel) {
      const node = await start(hosts.map(host => multiaddrOf({ host, port: 0 })))

      await node.handle(PROTOCOL, argument => {
        // libp2p 1 and 2 hand over an object that has the stream
        onChannel?.(stack.toChannel(argument.stream ?? argument))
      }, { maxInboundStreams: PLENTY })

      return node.getMultiaddrs().map(address => multiaddrOf(addressOf(address.toString()), node.peerId.toString()))
    },

    async dial (address, signal) {
      dialer ??= start([])
      const node = await dialer
      const target = stack.multiaddr(address)
      const started = performance.now()
      const connection = await node.dial(target, { force: true, signal })

      return {
        steps: { connect: marks.connected - started, security: marks.secured - marks.connected, muxer: performance.now() - marks.secured },
        open: async signal => stack.toChannel(await connection.newStream(PROTOCOL, { ...stack.streamOptions, maxOutboundStreams: PLENTY, signal })),
        close: async signal => connection.close({ signal })
      }
    },

    connections: () => connections().length,

    async close () {
      await Promise.all(nodes.map(async node => node.stop()))
    }
  }
}
