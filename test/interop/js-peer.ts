import { setMaxListeners } from 'node:events'
import { isIPv6 } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { identify } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tls } from '@libp2p/tls'
import { multiaddr } from '@multiformats/multiaddr'
import { Command, Option } from 'commander'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'
import { noiseCrypto } from '../../src/index.ts'
import { payload, readToEnd, sendPolitely, tally } from '../fixtures/bytes.ts'
import { echo } from '../fixtures/echo.ts'
import { SlowDatastore } from '../fixtures/slow-datastore.ts'
import { tell } from '../lab/process/lines.ts'
import { stack as stackOf } from '../lab/stacks.ts'
import type { Optimism, Security } from './cells.ts'
import type { Outcome } from './dial.ts'
import type { TransportName } from '../lab/stacks.ts'
import type { Identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

type JsNode = Libp2p<{ identify: Identify }>

const ECHO_PROTOCOL = '/echo/1.0.0'

/** A peer of js-libp2p with the command line and the output of the Go and Rust peers beside it. README.md describes them. */

interface Common {
  stack: 'official' | 'ours'
  security: Security
  optimism: Optimism
  peerStore?: number
}

interface ListenOptions extends Common {
  host: string
  port: number
  gater?: number
}

interface DialOptions extends Common {
  streams: number
  identify: boolean
  count: number
  bytes: number
  timeoutMs: number
}

/**
 * libp2p admits 32 and 64 by default, yamux 1,000 and 1,000: with those the connection monitor, whose ping is one more, ends a connection
 * that has 1,000
 */
const LIMITS = { maxInboundStreams: 4_096, maxOutboundStreams: 4_096 }

/** A node with TCP, Yamux, identify and the one security protocol that is asked for */
async function createNode ({ stack, security, optimism, peerStore }: Common, ask: boolean, listen: string[], gater?: number): Promise<JsNode> {
  const { TRANSPORT } = process.env
  const isDecorated = stack === 'ours' && (optimism === 'all' || optimism === 'known')
  const options = { tcp: { optimistic: optimism !== 'off' }, encrypter: security === 'tls' ? tls() : noise({ crypto: stack === 'ours' && optimism !== 'off' ? noiseCrypto : undefined }), yamux: LIMITS }

  return createLibp2p({
    ...stackOf(stack === 'official' || isDecorated ? stack : 'plain', options),
    // with an option of ours
    ...stack === 'ours' && TRANSPORT != null ? { transports: stackOf(TRANSPORT as TransportName, options).transports } : {},
    addresses: { listen: listen.length === 0 && TRANSPORT === 'reuse-port' ? ['/ip4/0.0.0.0/tcp/0', '/ip6/::/tcp/0'] : listen },
    ...(peerStore == null ? {} : { datastore: new SlowDatastore(peerStore) }),
    ...(gater == null ? {} : { connectionGater: { denyInboundUpgradedConnection: async () => delay(gater, false) } }),
    // the defaults admit 5 new connections a second from one host; every dial of a test comes from one
    connectionManager: { inboundConnectionThreshold: 1_000_000, maxIncomingPendingConnections: 1_000 },
    services: { identify: identify({ runOnConnectionOpen: ask }) }
  })
}

/**
 * Sends one byte and waits for it, then sends the rest while reading, half-closes, and compares all that came back until the remote
 * closed its side.
 *
 * @returns when the first byte was back, on the clock of `performance.now()`
 */
async function exchange (stream: Stream, size: number, signal: AbortSignal): Promise<number> {
  const abort = (): void => { stream.abort(new Error('The echo did not end in time')) }
  signal.addEventListener('abort', abort, { once: true })

  try {
    const sent = payload(size)
    const firstByte = pEvent(stream, 'message', { rejectionEvents: ['close'] }).then(() => performance.now())
    const received = readToEnd(stream)

    stream.send(sent.subarray(0, 1))
    const firstByteAt = await firstByte
    await sendPolitely(stream, sent.subarray(1), signal)
    await stream.close({ signal })

    const { bytes, sha256 } = await received

    if (sha256 !== tally(sent).sha256) {
      throw new Error(`The echo of ${size} bytes came back as ${bytes} bytes that differ`)
    }

    return firstByteAt
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function listen ({ host, port, gater, ...options }: ListenOptions): Promise<void> {
  const node = await createNode(options, true, [`/${isIPv6(host) ? 'ip6' : 'ip4'}/${host}/tcp/${port}`], gater)
  await node.handle(ECHO_PROTOCOL, echo, LIMITS)
  tell({ multiaddr: node.getMultiaddrs()[0].toString(), peerId: node.peerId.toString() })
}

async function dial (address: string, options: DialOptions): Promise<void> {
  const target = multiaddr(address)
  const node = await createNode(options, options.identify, [])

  if (options.optimism === 'known') {
    await introduce(node, target, timeout(options.timeoutMs))
  }

  for (let run = 0; run < options.count; run++) {
    const outcome = await dialOnce(node, target, options).catch((err): Outcome => ({ ok: false, error: err.message }))
    process.exitCode = outcome.ok ? process.exitCode : 1
    tell(outcome)
  }

  await node.stop()
  // what holds on to the event loop for our parent's sake would keep us here
  process.exit()
}

/** One dial that asks the remote nothing but who it is. */
async function introduce (node: JsNode, target: Multiaddr, signal: AbortSignal): Promise<void> {
  const connection = await node.dial(target, { signal })
  await node.services.identify.identify(connection, { signal })
  await close(node, connection, signal)

  const { protocols } = await node.peerStore.get(connection.remotePeer)

  if (!protocols.includes(ECHO_PROTOCOL)) {
    throw new Error(`Identify told of ${protocols.join(', ')} and not of ${ECHO_PROTOCOL}`)
  }
}

async function dialOnce (node: Libp2p, target: Multiaddr, { optimism, bytes, streams, timeoutMs }: DialOptions): Promise<Outcome> {
  const signal = timeout(timeoutMs)
  let redialed = false

  const start = performance.now()
  // the address itself: by its peer id a peer would be dialed at the addresses that identify told, past a proxy
  const connection = await node.dial(target, {
    signal,
    onProgress: ({ type }: { type: string }) => { redialed ||= type === 'tcp:redial' }
  })

  try {
    const negotiateFully = optimism === 'all' ? false : undefined
    const firstBytesAt = await Promise.all(Array.from({ length: streams }, async () => {
      const stream = await connection.newStream(ECHO_PROTOCOL, { signal, negotiateFully, maxOutboundStreams: LIMITS.maxOutboundStreams })

      return exchange(stream, bytes, signal)
    }))
    const firstByteAt = Math.min(...firstBytesAt)
    const end = performance.now()

    return { ok: true, firstByteMs: rounded(firstByteAt - start), totalMs: rounded(end - start), ...(redialed ? { redialed } : {}) }
  } finally {
    await close(node, connection, signal)
  }
}

/** The next dial needs a connection of its own: libp2p would give it this one if it still knew it. */
async function close (node: Libp2p, connection: Connection, signal: AbortSignal): Promise<void> {
  const forgotten = pEvent(node, 'connection:close', { signal })

  try {
    await connection.close({ signal })
  } catch (err: any) {
    connection.abort(err)
  }

  await forgotten
}

function timeout (ms: number): AbortSignal {
  const signal = AbortSignal.timeout(ms)
  setMaxListeners(Infinity, signal)

  return signal
}

/** Three decimals: what the timer can tell, in a line that can be read */
function rounded (ms: number): number {
  return Number(ms.toFixed(3))
}

// it is the end of a pipe that closes when our parent dies
process.stdin.resume().once('end', () => process.exit())

const security = new Option('--security <security>').choices(['noise', 'tls']).default('noise')
const program = new Command()
  .addOption(new Option('--stack <stack>').choices(['ours', 'official']).makeOptionMandatory())

const optimism = new Option('--optimism <optimism>').choices(['off', 'transport', 'all', 'known']).default('transport')
const peerStore = new Option('--peer-store <ms>').argParser(Number)

program.command('listen')
  .addOption(security)
  .addOption(optimism)
  .addOption(peerStore)
  .option('--gater <ms>', '', Number)
  .option('--host <ip>', '', '127.0.0.1')
  .option('--port <port>', '', Number, 0)
  .action(async (options, command) => listen(command.optsWithGlobals()))

program.command('dial <multiaddr>')
  .addOption(security)
  .addOption(optimism)
  .addOption(peerStore)
  .option('--identify', '', false)
  .option('--streams <count>', '', Number, 1)
  .option('--count <count>', '', Number, 100)
  .option('--bytes <bytes>', '', Number, 262_144)
  .option('--timeout-ms <ms>', '', Number, 60_000)
  .action(async (address, options, command) => dial(address, command.optsWithGlobals()))

await program.parseAsync()
