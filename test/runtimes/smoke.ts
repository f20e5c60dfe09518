/*
 * What a user does with the built package, on Node, Bun and Deno as they are. `smoke.ts` tries each feature and prints the titles of those that work; `smoke.ts listen` prints an address and echoes there,
 * until its input ends; `smoke.ts dial <address>` dials that.
 */
import net from 'node:net'
import { tmpdir } from 'node:os'
import { identify } from '@libp2p/identify'
import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { MiB, payload, sendPolitely } from '../fixtures/bytes.ts'
import { ECHO, echo } from '../fixtures/echo.ts'
import type { TCPOptions } from '../../src/index.ts'

/** What users have. It is not there when types are checked */
const BUILT: string = '../../dist/src/index.js'
const { tcp, noiseCrypto, optimistic, yamux }: typeof import('../../src/index.ts') = await import(BUILT)

const IP4 = '/ip4/127.0.0.1/tcp/0'

/** What is open, to be closed at the end of a feature */
const ends: Array<() => unknown> = []

const features: Record<string, () => Promise<void>> = {
  'an echo of 16 MiB on IPv4': async () => echoAt(IP4, 16 * MiB),
  'an echo on IPv6': async () => echoAt('/ip6/::1/tcp/0', 1_000),
  'an echo on a Unix socket': async () => echoAt(`/unix/${encodeURIComponent(`${tmpdir()}/smoke-${process.pid}.sock`)}`, 1_000),

  '3 MiB and close(), to a slow reader that talks: all arrives': async () => {
    const { port, socket } = await server()
    const connection = await dial(`/ip4/127.0.0.1/tcp/${port}`)
    const peer = await socket
    const received = readSlowly(peer)

    await sendPolitely(connection, payload(3 * MiB))
    await connection.close()
    same(await received, 3 * MiB)
  },
  'abort(), RST and FIN of the peer close a connection': async () => {
    for (const [end, hasError] of [['abort', true], ['resetAndDestroy', true], ['end', false]] as const) {
      const { port, socket } = await server()
      const connection = await dial(`/ip4/127.0.0.1/tcp/${port}`)
      const closed = new Promise<Error | undefined>(resolve => { connection.addEventListener('close', ({ error }: any) => { resolve(error) }) })
      const peer = await socket

      peer.resume()

      if (end === 'abort') {
        connection.abort(new Error('enough'))
      } else {
        peer[end]()
      }

      same((await within(closed)) != null, hasError)
    }
  },
  'a dial that is refused says ECONNREFUSED': async () => {
    const { port } = await server(true)

    same(await dial(`/ip4/127.0.0.1/tcp/${port}`).then(() => 'dialed', err => err.code ?? err.cause?.code), 'ECONNREFUSED')
  },
  'Noise, yamux, identify, ping, and 100 streams right after a dial': async () => {
    const listener = await createNode([IP4])
    const node = await createNode([])
    const identified = new Promise<string[]>(resolve => { node.addEventListener('peer:identify', ({ detail }: any) => { resolve(detail.protocols) }) })
    const connection = await node.dial(listener.getMultiaddrs())

    await Promise.all(Array.from({ length: 100 }, async (_, i) => echoOver(await connection.newStream(ECHO), 1_000 + i)))
    same((await within(identified)).includes(ECHO), true)
    await node.services.ping.ping(connection.remotePeer)
    await listener.stop()
  }
}

const [mode, address] = process.argv.slice(2)

if (mode === 'listen') {
  process.stdout.write(`${JSON.stringify((await createNode([IP4])).getMultiaddrs()[0].toString())}\n`)
  process.stdin.on('end', () => process.exit()).resume()
} else if (mode === 'dial') {
  const connection = await (await createNode([])).dial(multiaddr(address))
  await echoOver(await connection.newStream(ECHO), MiB)
  // timers of libp2p keep Deno alive for minutes
  process.exit()
} else {
  for (const [title, run] of Object.entries(features)) {
    await run()

    for (const end of ends.splice(0).reverse()) {
      await end()
    }

    process.stdout.write(`${JSON.stringify(title)}\n`)
  }

  process.exit()
}

async function createNode (listen: string[]): Promise<any> {
  // Bun's own ciphers are not what Noise's default takes
  const encrypter = noise('Bun' in globalThis ? { crypto: noiseCrypto } : {})
  const node = await createLibp2p({
    addresses: { listen },
    transports: [tcp()],
    connectionEncrypters: [optimistic(encrypter)],
    streamMuxers: [yamux()],
    services: { identify: identify(), ping: ping() }
  })

  ends.push(async () => node.stop())
  await node.handle(ECHO, echo, { maxInboundStreams: 1_000, maxOutboundStreams: 1_000 })

  return node
}

function transport (init: TCPOptions = {}): any {
  return tcp(init)({ logger: defaultLogger() })
}

async function listen (address: string, init?: TCPOptions): Promise<string> {
  const listener = transport(init).createListener({
    upgrader: { upgradeInbound: async (connection: any) => { connection.addEventListener('message', ({ data }: any) => { connection.send(data) }) } }
  })

  ends.push(async () => listener.close())
  await listener.listen(multiaddr(address))

  return listener.getAddrs()[0].toString()
}

async function dial (address: string, init?: TCPOptions): Promise<any> {
  const connection = await transport(init).dial(multiaddr(address), { upgrader: { upgradeOutbound: async (connection: any) => connection }, signal: AbortSignal.timeout(10_000) })

  ends.push(() => connection.abort(new Error('The feature is over')))

  return connection
}

async function server (isClosed = false): Promise<{ port: number, socket: Promise<net.Socket> }> {
  const { promise, resolve } = Promise.withResolvers<net.Socket>()
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    socket.on('error', () => {})
    ends.push(() => socket.destroy())
    resolve(socket)
  })

  ends.push(() => { server.close() })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })

  const { port } = server.address() as net.AddressInfo

  if (isClosed) {
    server.close()
  }

  return { port, socket: promise }
}

async function echoAt (address: string, length: number): Promise<void> {
  await echoOver(await dial(await listen(address)), length)
}

async function echoOver (stream: any, length: number): Promise<void> {
  const sent = payload(length)
  let received = Buffer.alloc(0)
  const back = new Promise<void>(resolve => {
    stream.addEventListener('message', ({ data }: any) => {
      received = Buffer.concat([received, data.subarray()])

      if (received.byteLength >= length) {
        resolve()
      }
    })
  })

  await Promise.all([sendPolitely(stream, sent), within(back)])
  same(received.equals(sent), true)
}

/** Sends a few bytes now and then, too. How many have come when the peer has ended */
async function readSlowly (socket: net.Socket): Promise<number> {
  const talk = setInterval(() => { socket.write('twelve bytes') }, 100)
  let received = 0

  // Deno reads nothing by read() on a socket that was paused
  socket.on('data', data => {
    received += data.byteLength
    socket.pause()
    setTimeout(() => { socket.resume() }, 5)
  })
  await new Promise<void>(resolve => { socket.on('end', resolve).on('close', resolve) })
  clearInterval(talk)

  return received
}

function same (actual: unknown, expected: unknown): void {
  if (actual !== expected) {
    throw new Error(`${String(actual)}, and not ${String(expected)}`)
  }
}

async function within <T> (promise: Promise<T>): Promise<T> {
  return Promise.race([promise, new Promise<T>((_resolve, reject) => { setTimeout(() => { reject(new Error('not within 20 s')) }, 20_000) })])
}
