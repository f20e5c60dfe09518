/*
 * Nodes of one stack in one process, for `npm run suite soak`: they ask others for content, gossip, and come and go.
 *
 *   node --expose-gc soak.ts <official|decorated> <host>
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { gossipsub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { memoryTasks } from '../../lab/measure/memory.ts'
import { serve, tell } from '../../lab/process/serve.ts'
import { contentOf, hashOf } from './content.ts'
import { Lab } from './lab.ts'
import type { Mode } from './lab.ts'
import type { Counts, Failure, Kind, Peer, SoakTasks, Told } from '../../soak/tasks.ts'
import type { GossipSub } from '@libp2p/gossipsub'
import type { Connection, Libp2p, PrivateKey, Stream } from '@libp2p/interface'

type Node = Libp2p<{ pubsub: GossipSub }>

/** The content that eight bytes ask for: a seed and a length */
const CONTENT = '/soak/content/1.0.0'

/** Peers in Go have only this */
const ECHO = '/echo/1.0.0'
const TOPIC = 'soak'
const KIB = 1_024

/** With fewer connections, a node keeps one that it has dialed for a question */
const CONNECTIONS = 4

/** What is asked of a peer that is connected already */
const CONNECTED_SHARE = 0.8

/** In ms */
const TIMEOUTS = { query: 30_000, block: 120_000, close: 30_000 }
const MANY = { maxInboundStreams: 1_000, maxOutboundStreams: 1_000 }

const [mode, host] = process.argv.slice(2)
const own = mode === 'official' ? 'official' : 'ours'
const lab = new Lab(mode as Mode, false)
const nodes = new Map<string, Node>()
const keys = new Map<string, PrivateKey>()
const counts: Counts = { done: {}, published: 0, delivered: 0, corrupt: 0 }
const { memoryInUse } = memoryTasks()
const loop = monitorEventLoopDelay({ resolution: 50 })
let peers = new Map<string, Peer>()
let known: Peer[] = []
let seed = 0

const tasks: SoakTasks = {
  async startNode (name, port) {
    const privateKey = keys.get(name) ?? await generateKeyPair('Ed25519')
    keys.set(name, privateKey)

    const node: Node = await createLibp2p({
      privateKey,
      addresses: { listen: [`/ip4/${host}/tcp/${port}`] },
      ...lab.stack(),
      connectionMonitor: { pingInterval: 30_000 },
      // many nodes have one address
      connectionManager: { inboundConnectionThreshold: 10_000, maxIncomingPendingConnections: 1_000 },
      services: { identify: identify(), ping: ping(), pubsub: gossipsub({ allowPublishToZeroTopicPeers: true, scoreParams: { IPColocationFactorWeight: 0 } }) }
    })

    node.addEventListener('connection:open', ({ detail: connection }) => {
      connection.addEventListener('close', ({ error }) => {
        const to = peers.get(connection.remotePeer.toString())?.name ?? 'unknown'

        tell({ over: { from: name, to, at: Date.now(), error: error?.message } } satisfies Told)
      })
    })
    await node.handle(CONTENT, answer, MANY)
    await node.handle(ECHO, echo, MANY)
    node.services.pubsub.addEventListener('message', ({ detail: { data } }) => {
      counts.delivered++
      counts.corrupt += hashOf(data.subarray(4)).digest('hex') === hashOf(contentOf(Buffer.from(data).readUint32BE(), KIB)).digest('hex') ? 0 : 1
    })
    node.services.pubsub.subscribe(TOPIC)
    nodes.set(name, node)

    return `/ip4/${host}/tcp/${port}/p2p/${node.peerId}`
  },

  async stopNode (name) {
    const node = nodes.get(name)
    nodes.delete(name)
    await node?.stop()
  },

  know (all) {
    known = all
    peers = new Map(all.map(peer => [multiaddr(peer.address).getComponents().at(-1)?.value ?? '', peer]))
  },

  load ({ query, block, gossip }) {
    void often(query, async (name, node) => attempt('query', name, node, KIB))
    // as many of 64 to 128 KiB as of 2 to 4 MiB
    void often(block, async (name, node) => attempt('block', name, node, Math.round(64 * KIB * 2 ** (6 * Math.random()))))
    void often(gossip, publish)
  },

  async sample () {
    const connections = [...nodes.values()].flatMap(node => node.getConnections())
    const resources: Record<string, number> = {}
    const { user, system } = process.cpuUsage()
    const away = loop.max / 1e6

    for (const name of process.getActiveResourcesInfo()) {
      resources[name] = (resources[name] ?? 0) + 1
    }

    const memory = await memoryInUse()
    loop.reset()

    return {
      ...counts,
      ...memory,
      cpu: (user + system) / 1_000,
      away,
      nodes: nodes.size,
      connections: connections.length,
      streams: connections.flatMap(({ streams }) => streams).length,
      resources
    }
  }
}

/** Has one of the nodes do something, at times that are as far apart as chance wants */
async function often (rate: number, act: (name: string, node: Node) => Promise<void>): Promise<never> {
  while (true) {
    await wait(-Math.log(1 - Math.random()) * 1_000 / rate)

    if (nodes.size > 0) {
      void act(...pick([...nodes]))
    }
  }
}

async function publish (_: string, node: Node): Promise<void> {
  const head = Buffer.alloc(4)
  head.writeUint32BE(++seed)

  try {
    await node.services.pubsub.publish(TOPIC, Buffer.concat([head, contentOf(seed, KIB)]))
    counts.published++
  } catch (err) {
    // it may have been stopped meanwhile
    if (node.status === 'started') {
      throw err
    }
  }
}

/** Asks one peer for content. Where it has dialed for that alone it hangs up, as a walk through a DHT does */
async function attempt (kind: Exclude<Kind, 'dial'>, from: string, node: Node, size: number): Promise<void> {
  const connected = node.getConnections()
  const isLonely = connected.length < CONNECTIONS
  const near = isLonely || Math.random() > CONNECTED_SHARE ? [] : connected.flatMap(({ remotePeer }) => peers.get(remotePeer.toString()) ?? [])
  const to = pick(near.length > 0 ? near : known.filter(({ name }) => name !== from))
  const pair = `${own} > ${to.stack}`
  const target = multiaddr(to.address)
  const isNew = !connected.some(({ remotePeer }) => peers.get(remotePeer.toString()) === to)
  const controller = new AbortController()
  const timer = setTimeout(() => { controller.abort() }, TIMEOUTS[kind])
  const began = Date.now()
  let connection: Connection | undefined

  try {
    connection = await node.dial(target, { signal: controller.signal })
    await ask(connection, to.stack === 'go', kind, size, controller.signal)
    const done = counts.done[`${kind} ${pair}`] ??= { streams: 0, bytes: 0 }
    done.streams++
    done.bytes += size
  } catch (err: any) {
    const error = controller.signal.aborted ? 'Timeout' : err.name
    const failure: Failure = { kind, pair, from, to: to.name, began, ended: Date.now(), error: `${error}: ${err.message}`, lost: err instanceof LostError ? err.bytes : 0 }
    tell({ failure } satisfies Told)
  } finally {
    clearTimeout(timer)
  }

  if (isNew && !isLonely && connection?.status === 'open') {
    const began = Date.now()
    await connection.close({ signal: AbortSignal.timeout(TIMEOUTS.close) }).catch(err => { connection?.abort(err) })
    tell({ hungUp: { from, to: to.name, began, ended: Date.now() } } satisfies Told)
  }
}

class LostError extends Error {
  readonly name = 'LostError'
  readonly bytes: number

  constructor (received: number, size: number) {
    super(`${received} bytes came in place of ${size}, or others`)
    this.bytes = Math.max(size - received, received === size ? size : 0)
  }
}

async function ask (connection: Connection, isGo: boolean, kind: Kind, size: number, signal: AbortSignal): Promise<void> {
  const content = contentOf(++seed, size)
  const head = Buffer.alloc(kind === 'query' ? KIB : 8)
  head.writeUint32BE(seed)
  head.writeUint32BE(size, 4)

  const stream = await connection.newStream(isGo ? ECHO : CONTENT, { signal, maxOutboundStreams: MANY.maxOutboundStreams })
  const abort = (): void => { stream.abort(new Error('It took too long')) }
  signal.addEventListener('abort', abort)

  try {
    const [{ bytes, sha256 }] = await Promise.all([read(stream), send(stream, isGo ? content : head)])

    if (sha256 !== hashOf(content).digest('hex')) {
      throw new LostError(bytes, size)
    }
  } catch (err: any) {
    stream.abort(err)
    throw err
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function read (stream: Stream): Promise<{ bytes: number, sha256: string }> {
  const hash = hashOf()
  let bytes = 0

  for await (const data of stream) {
    hash.update(data.subarray())
    bytes += data.byteLength
  }

  return { bytes, sha256: hash.digest('hex') }
}

async function send (stream: Stream, content: Uint8Array): Promise<void> {
  for (let i = 0; i < content.length; i += 64 * KIB) {
    if (!stream.send(content.subarray(i, i + 64 * KIB))) {
      await stream.onDrain()
    }
  }

  await stream.close()
}

async function answer (stream: Stream): Promise<void> {
  const parts: Uint8Array[] = []

  for await (const data of stream) {
    parts.push(data.subarray())
  }

  const head = Buffer.concat(parts)
  await send(stream, contentOf(head.readUint32BE(), head.readUint32BE(4)))
}

async function echo (stream: Stream): Promise<void> {
  for await (const data of stream) {
    if (!stream.send(data)) {
      await stream.onDrain()
    }
  }

  await stream.close()
}

function pick <T> (items: T[]): T {
  return items[Math.floor(Math.random() * items.length)]
}

loop.enable()
// it would end the process, and with it what others have to measure
process.on('uncaughtException', ({ stack }) => { tell({ uncaught: `${stack}` } satisfies Told) })
serve(tasks)
