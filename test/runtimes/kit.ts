/*
 * What both ends of a feature are made of. It runs on Node, Bun and Deno as it
 * is: nothing is imported here but the package, libp2p and `node:` modules.
 */
import net from 'node:net'
import { identify } from '@libp2p/identify'
import { defaultLogger } from '@libp2p/logger'
import { noise, pureJsCrypto } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import type { TCPOptions } from '../../src/index.ts'
import type { Identify } from '@libp2p/identify'
import type { Connection, Libp2p, Listener, MultiaddrConnection, Transport, Upgrader } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'

export type Kind = 'ours' | 'official'

export const ECHO = '/runtimes/echo/1.0.0'

export const MiB = 1_048_576

/** Bun's own ciphers are not what Noise's default takes */
const crypto = 'Bun' in globalThis ? { crypto: pureJsCrypto } : {}

/** The built package, which is what users have. It is not there when types are checked */
const BUILT: string = '../../dist/src/index.js'
const { tcp, optimistic }: typeof import('../../src/index.ts') = await import(BUILT)

/** What one end has opened, to be closed when the feature ends */
export class Kit {
  readonly #kind: Kind
  readonly #ends: Array<() => unknown> = []

  constructor (kind: Kind) {
    this.#kind = kind
  }

  defer (end: () => unknown): void {
    this.#ends.push(end)
  }

  async end (): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) {
      await Promise.race([Promise.resolve().then(end).catch(() => {}), delay(2_000)])
    }
  }

  transport (init: TCPOptions = {}): Transport {
    const transport = (this.#kind === 'ours' ? tcp(init) : officialTcp(init))({ logger: defaultLogger() })

    this.defer(async () => (transport as any).stop?.())

    return transport
  }

  /** A connection without encrypter and muxer */
  async dial (address: string, { transport = this.transport(), signal = AbortSignal.timeout(10_000) }: { transport?: Transport, signal?: AbortSignal } = {}): Promise<MultiaddrConnection> {
    const connection = await transport.dial(multiaddr(address), { upgrader: passThrough(() => {}), signal }) as unknown as MultiaddrConnection

    this.defer(() => { connection.abort(new Error('The feature is over')) })

    return connection
  }

  async listen (address: string, onConnection: (connection: MultiaddrConnection) => void, init?: TCPOptions): Promise<Listener> {
    const listener = this.transport(init).createListener({ upgrader: passThrough(onConnection) })

    await listener.listen(multiaddr(address))
    this.defer(async () => listener.close())

    return listener
  }

  /** A node of the kind, ours with both decorators */
  async node (listen: string[]): Promise<Libp2p<{ identify: Identify, ping: Ping }>> {
    const stack = this.#kind === 'ours'
      ? { transports: [tcp()], connectionEncrypters: [optimistic(noise(crypto))], streamMuxers: [optimistic(yamux())] }
      : { transports: [officialTcp()], connectionEncrypters: [noise(crypto)], streamMuxers: [yamux()] }
    const node = await createLibp2p({
      ...stack,
      addresses: { listen },
      connectionManager: { inboundConnectionThreshold: 10_000 },
      services: { identify: identify(), ping: ping() }
    })

    this.defer(async () => node.stop())
    await node.handle(ECHO, async stream => {
      for await (const data of stream) {
        if (!stream.send(data)) {
          await stream.onDrain()
        }
      }

      await stream.close()
    }, { maxInboundStreams: 1_000, maxOutboundStreams: 1_000 })

    return node
  }

  /** A server that knows nothing of libp2p */
  async server (onSocket: (socket: net.Socket) => void): Promise<number> {
    const sockets = new Set<net.Socket>()
    const server = net.createServer({ allowHalfOpen: true }, socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      onSocket(socket)
    })

    this.defer(() => {
      server.close()
      sockets.forEach(socket => socket.destroy())
    })

    await new Promise<void>((resolve, reject) => {
      server.on('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })

    return (server.address() as net.AddressInfo).port
  }
}

/** What one end of a connection has seen */
export interface Seen {
  bytes: number
  sum: number
  closed: boolean
  error?: string
}

/** Counts and sums up what comes, in order */
export class Tally {
  readonly seen: Seen = { bytes: 0, sum: 0, closed: false }

  add (data: Uint8Array | Iterable<Uint8Array>): void {
    for (const part of data instanceof Uint8Array ? [data] : data) {
      this.seen.sum = sumOf(part, this.seen.sum, this.seen.bytes)
      this.seen.bytes += part.byteLength
    }
  }

  /** Count what a connection receives, and note how it ends */
  of (connection: MultiaddrConnection): this {
    connection.addEventListener('message', ({ data }) => { this.add(data) })
    connection.addEventListener('close', ({ error }) => {
      this.seen.closed = true
      this.seen.error = error?.name
    })

    return this
  }
}

/** Depends on every byte and its place */
export function sumOf (data: Uint8Array, sum = 0, offset = 0): number {
  for (let i = 0; i < data.byteLength; i++) {
    sum = (Math.imul(sum, 31) + data[i] + ((offset + i) & 0xff)) | 0
  }

  return sum
}

/** Bytes that repeat only after a long while */
export function payload (length: number): Uint8Array {
  const data = new Uint8Array(length)

  for (let i = 0; i < length; i++) {
    data[i] = (i * 7 + (i >> 8) * 13 + (i >> 16) * 31) & 0xff
  }

  return data
}

/** Sends in pieces of 64 KiB, and waits where the connection says so */
export async function sendAll (connection: Pick<MultiaddrConnection, 'send' | 'onDrain'>, data: Uint8Array): Promise<void> {
  for (let i = 0; i < data.byteLength; i += 65_536) {
    if (!connection.send(data.subarray(i, i + 65_536))) {
      await connection.onDrain()
    }
  }
}

export async function delay (ms: number): Promise<void> {
  return new Promise(resolve => { setTimeout(resolve, ms) })
}

/** Wait for what happens at another process, and fail after 10 s */
export async function until (what: string, isSo: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms

  while (!await isSo()) {
    if (performance.now() > end) {
      throw new Error(`${what}: not within ${ms / 1_000} s`)
    }

    await delay(20)
  }
}

export function expectSame (what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) {
    throw new Error(`${what} is ${actual}, and not ${expected}`)
  }
}

function passThrough (onInbound: (connection: MultiaddrConnection) => void): Upgrader {
  return {
    upgradeInbound: async (connection: MultiaddrConnection) => { onInbound(connection) },
    upgradeOutbound: async (connection: MultiaddrConnection) => connection as unknown as Connection
  } as unknown as Upgrader
}
