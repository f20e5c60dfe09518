import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { STACKS } from '../../test/lab/peers/stacks.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { activeOpens, counterIn } from './network.ts'
import type { Libp2p } from '@libp2p/interface'

/** Nodes at one end of a link: `worker <stack>`. What libp2p does in a dial is at its defaults */

export interface Dialed {
  /** Until the first echoed byte, in ms. Undefined if the dial failed */
  ms?: number

  /** How long the dial took, also if it failed, in ms */
  lasted: number

  /** How many sockets the dial opened */
  sockets: number
}

export interface Crawled {
  /** When each reachable peer was connected, in ms since the first dial */
  connected: number[]

  /** In ms */
  lasted: number

  /** The most sockets that were connecting or open at a time */
  sockets: number

  /** As the kernel counts them, those that were sent again too */
  syns: number

  /** Of this process, in ms */
  cpu: number
}

/** A listener takes five connections a second of one host by default */
const CALM = { inboundConnectionThreshold: 1_000_000, maxIncomingPendingConnections: 1_000_000 }

const ECHO = '/fast-tcp/addresses/echo/1.0.0'

const [name] = process.argv.slice(2) as [keyof typeof STACKS]
const stack = await STACKS[name]()

async function start (listen: string[]): Promise<Libp2p> {
  return stack.createLibp2p({ ...stack.options, addresses: { listen }, connectionMonitor: { enabled: false }, connectionManager: CALM })
}

/** The sockets that dials opened, and how many of them were open at a time */
class Sockets {
  count = 0
  most = 0
  #open = 0

  readonly #onSocket = (message: any): void => {
    this.count++
    this.#open++
    this.most = Math.max(this.most, this.#open)
    message.socket.once('close', () => { this.#open-- })
  }

  constructor () {
    channel('net.client.socket').subscribe(this.#onSocket)
  }

  end (): void {
    channel('net.client.socket').unsubscribe(this.#onSocket)
  }
}

const tasks = {
  /** A peer, and what is no peer. Returns its id, and the port of each */
  async listen (): Promise<{ peer: string, ports: Record<'live' | 'refused' | 'mute', number> }> {
    const node = await start(['/ip4/0.0.0.0/tcp/0'])
    await node.handle(ECHO, stream => {
      stream.addEventListener('message', ({ data }) => { stream.send(data) })
      stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
    })
    const closed = await listenPlainly()
    const refused = portOf(closed)

    closed.close()

    return {
      peer: node.peerId.toString(),
      ports: {
        live: nodePort(node),
        refused,
        mute: portOf(await listenPlainly())
      }
    }
  },

  /** A number of peers: the id and port of each */
  async listenMany (count: number): Promise<Array<{ peer: string, port: number }>> {
    const many = await Promise.all(Array.from({ length: count }, async () => start(['/ip4/0.0.0.0/tcp/0'])))

    return many.map(node => ({ peer: node.peerId.toString(), port: nodePort(node) }))
  },

  /** Dials a peer at these addresses by a node that knows nothing of it, and as often again */
  async dial (addresses: string[], times: number): Promise<Dialed[]> {
    const node = await start([])
    const dials: Dialed[] = []

    for (let i = 0; i < times; i++) {
      dials.push(await dialOnce(node, addresses))
      await Promise.all(node.getConnections().map(async connection => connection.close()))
    }

    await node.stop()

    return dials
  },

  /** Dials peers until all that are reachable are connected */
  async crawl (peers: string[][], reachable: number, limit: number): Promise<Crawled> {
    const node = await start([])
    const sockets = new Sockets()
    const over = new AbortController()
    const connected: number[] = []
    const syns = sentSyns()
    const cpu = process.cpuUsage()
    const began = performance.now()
    const timer = setTimeout(() => { over.abort() }, limit)

    node.addEventListener('connection:open', () => {
      connected.push(performance.now() - began)

      if (connected.length === reachable) {
        over.abort()
      }
    })

    peers.forEach(addresses => { void dialUntil(node, addresses, over.signal) })
    await once(over.signal, 'abort')

    const lasted = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    const crawled = { connected, lasted, sockets: sockets.most, syns: sentSyns() - syns, cpu: (user + system) / 1_000 }

    clearTimeout(timer)
    sockets.end()
    await node.stop()

    return crawled
  }
}

async function dialOnce (node: Libp2p, addresses: string[]): Promise<Dialed> {
  const sockets = new Sockets()
  const began = performance.now()
  const elapsed = (): number => performance.now() - began

  try {
    const connection = await node.dial(addresses.map(address => stack.multiaddr(address)))
    const stream = await connection.newStream(ECHO, stack.streamOptions)
    const answered = once(stream as any, 'message')

    stream.send(Uint8Array.of(1))
    await answered
    stream.close().catch(() => {})

    return { ms: elapsed(), lasted: elapsed(), sockets: sockets.count }
  } catch {
    return { lasted: elapsed(), sockets: sockets.count }
  } finally {
    sockets.end()
  }
}

/** A crawler tries again what has failed */
async function dialUntil (node: Libp2p, addresses: string[], over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      await node.dial(addresses.map(address => stack.multiaddr(address)))
      return
    } catch {
      await wait(100)
    }
  }
}

/** Accepts, and never speaks */
async function listenPlainly (): Promise<net.Server> {
  const server = net.createServer(socket => { socket.on('error', () => {}).resume() })

  server.listen(0, '0.0.0.0')
  await once(server, 'listening')

  return server
}

function portOf (server: net.Server): number {
  return (server.address() as net.AddressInfo).port
}

function nodePort (node: Libp2p): number {
  return Number(/\/tcp\/(\d+)/.exec(node.getMultiaddrs()[0].toString())?.[1])
}

/** By this network namespace: those of new connections, and those that were sent again */
function sentSyns (): number {
  return activeOpens(readFileSync('/proc/self/net/snmp', 'utf8')) + counterIn(readFileSync('/proc/self/net/netstat', 'utf8'), 'TcpExt', 'TCPSynRetrans')
}

export type AddressesTasks = typeof tasks

serve(tasks)
