import net from 'node:net'
import nodeTls from 'node:tls'
import { identify } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { Command, Option } from 'commander'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'
import { optimistic, tcp } from '../../src/index.ts'
import { linux } from '../../src/linux/index.ts'
import { ECHO_PROTOCOL, echo } from '../interop/echo.ts'
import { addressOf } from '../lab/peers/address.ts'
import type { CounterGroup, Libp2p, Metrics, StreamMessageEvent } from '@libp2p/interface'

/*
 * A process that listens, or that dials and prints how many ms each dial took.
 */

export const STACKS = ['raw', 'official', 'transport', 'ours', 'fast-open'] as const

/** The first byte of a stream, or what identify tells of the peer */
const GOALS = ['first-byte', 'identify'] as const

export interface PeerOptions {
  stack: typeof STACKS[number]
  security: 'noise' | 'tls' | 'tls-x25519'
  goal: typeof GOALS[number]
}

/** A line of what a dialer prints */
export interface DialTime {
  ms: number

  /** What became of the data in the SYN */
  outcome?: string
}

const outcomes: string[] = []

/** Of the transport, of which the outcomes of Fast Open count here */
const metrics = {
  registerCounterGroup: (name: string): CounterGroup => ({
    increment (values) {
      if (name === 'libp2p_tcp_fast_open_dials_total') {
        outcomes.push(...Object.keys(values))
      }
    },
    reset () {}
  }),
  registerMetricGroup: () => ({ increment () {}, decrement () {}, update () {}, reset () {} }),
  registerHistogram: () => ({ observe: () => {}, reset: () => {}, timer: () => () => {} })
} as unknown as Metrics

async function createNode ({ stack, security, goal }: PeerOptions, listen: string[] = []): Promise<Libp2p> {
  if (security === 'tls-x25519') {
    nodeTls.DEFAULT_ECDH_CURVE = 'X25519'
  }

  const encrypter: any = security === 'noise' ? noise() : tls()
  const isDecorated = stack === 'ours' || stack === 'fast-open'

  const transport = stack === 'official' ? officialTcp() : tcp(stack === 'fast-open' ? { linux: linux({ fastOpen: true }) } : {})

  return createLibp2p({
    addresses: { listen },
    transports: [({ logger, events }: any) => transport({ logger, events, metrics } as any)],
    connectionEncrypters: [isDecorated ? optimistic(encrypter) : encrypter],
    streamMuxers: [isDecorated ? optimistic(yamux()) : yamux()],
    connectionMonitor: { enabled: false },
    connectionManager: { inboundConnectionThreshold: 1_000_000, maxIncomingPendingConnections: 1_000 },
    services: { identify: identify({ runOnConnectionOpen: goal === 'identify' }) }
  })
}

async function listen (host: string, options: PeerOptions): Promise<void> {
  if (options.stack === 'raw') {
    const server = net.createServer({ noDelay: true }, socket => {
      socket.on('error', () => {})
      socket.pipe(socket)
    })
    server.listen(0, host)
    await pEvent(server, 'listening')
    print({ multiaddr: `/ip4/${host}/tcp/${(server.address() as net.AddressInfo).port}` })
    return
  }

  const node = await createNode({ ...options, goal: 'identify' }, [`/ip4/${host}/tcp/0`])
  await node.handle(ECHO_PROTOCOL, echo)
  print({ multiaddr: node.getMultiaddrs()[0].toString() })
}

async function dial (address: string, count: number, options: PeerOptions): Promise<void> {
  const dialOnce = options.stack === 'raw' ? async () => dialRaw(address) : await nodeDialer(address, options)

  for (let i = 0; i < count; i++) {
    outcomes.length = 0
    const ms = await dialOnce()

    print({ ms, outcome: outcomes.join() })
  }

  process.exit()
}

async function nodeDialer (address: string, options: PeerOptions): Promise<() => Promise<number>> {
  const node = await createNode(options)
  const target = multiaddr(address)

  return async () => {
    const start = performance.now()
    const identified = pEvent(node, 'peer:identify')
    identified.catch(() => {})
    const connection = await node.dial(target)

    if (options.goal === 'identify') {
      await identified
    } else {
      identified.cancel()
      const stream = await connection.newStream(ECHO_PROTOCOL, options.stack === 'ours' || options.stack === 'fast-open' ? { negotiateFully: false } : {})
      const echoed = pEvent<'message', StreamMessageEvent>(stream, 'message', { rejectionEvents: ['close'] })
      stream.send(Uint8Array.of(1))
      await echoed
    }

    const ms = performance.now() - start
    const forgotten = pEvent(node, 'connection:close')
    await connection.close().catch(err => { connection.abort(err) })
    await forgotten

    return ms
  }
}

async function dialRaw (address: string): Promise<number> {
  const start = performance.now()
  const socket = net.connect({ ...addressOf(address), noDelay: true })
  socket.write('.')
  await pEvent(socket, 'data')
  const ms = performance.now() - start
  socket.destroy()

  return ms
}

function print (line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

// the pipe closes when our parent dies
process.stdin.resume().once('end', () => process.exit())

const program = new Command()
  .addOption(new Option('--stack <stack>').choices(STACKS).makeOptionMandatory())
  .addOption(new Option('--security <security>').choices(['noise', 'tls', 'tls-x25519']).default('noise'))
  .addOption(new Option('--goal <goal>').choices(GOALS).default('first-byte'))

program.command('listen <host>').action(async (host, _, command) => listen(host, command.optsWithGlobals()))
program.command('dial <multiaddr> <count>').action(async (address, count, _, command) => dial(address, Number(count), command.optsWithGlobals()))

await program.parseAsync()
