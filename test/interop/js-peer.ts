import { setMaxListeners } from 'node:events'
import { isIPv6 } from 'node:net'
import { multiaddr } from '@multiformats/multiaddr'
import { Command, Option } from 'commander'
import { pEvent } from 'p-event'
import { OPTIMISM } from './cells.ts'
import { ECHO_PROTOCOL, echo, exchange } from './echo.ts'
import { createNode } from './js-node.ts'
import type { JsStack, Optimism, Security } from './cells.ts'
import type { JsNode } from './js-node.ts'
import type { Outcome } from './peer-process.ts'
import type { Connection, Libp2p } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/**
 * A peer of js-libp2p with the command line and the output of the Go and Rust
 * peers beside it. README.md describes them.
 */

interface Common {
  stack: JsStack
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

/** libp2p admits 32 and 64 by default */
const LIMITS = { maxInboundStreams: 4_096, maxOutboundStreams: 4_096 }

async function listen ({ host, port, ...options }: ListenOptions): Promise<void> {
  const node = await createNode({ ...options, identify: true, listen: [`/${isIPv6(host) ? 'ip6' : 'ip4'}/${host}/tcp/${port}`] })
  await node.handle(ECHO_PROTOCOL, echo, LIMITS)
  print({ multiaddr: node.getMultiaddrs()[0].toString(), peerId: node.peerId.toString() })
}

async function dial (address: string, options: DialOptions): Promise<void> {
  const target = multiaddr(address)
  const node = await createNode(options)

  if (options.optimism === 'known') {
    await introduce(node, target, timeout(options.timeoutMs))
  }

  for (let run = 0; run < options.count; run++) {
    const outcome = await dialOnce(node, target, options).catch((err): Outcome => ({ ok: false, error: err.message }))
    process.exitCode = outcome.ok ? process.exitCode : 1
    print(outcome)
  }

  await node.stop()
  // what holds on to the event loop for our parent's sake would keep us here
  process.exit()
}

/**
 * One dial that asks the remote nothing but who it is.
 */
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

/**
 * The next dial needs a connection of its own: libp2p would give it this one if
 * it still knew it.
 */
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

function print (line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

// it is the end of a pipe that closes when our parent dies
process.stdin.resume().once('end', () => process.exit())

const security = new Option('--security <security>').choices(['noise', 'tls']).default('noise')
const program = new Command()
  .addOption(new Option('--stack <stack>').choices(['ours', 'official']).makeOptionMandatory())

const optimism = new Option('--optimism <optimism>').choices(OPTIMISM).default('transport')
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
