import { setTimeout as wait } from 'node:timers/promises'
import { ping } from '@libp2p/ping'
import { pEvent } from 'p-event'
import { multiaddrOf } from '../../test/lab/peers/address.ts'
import { STACKS } from '../../test/lab/peers/stacks.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { median } from '../../test/lab/statistics.ts'
import { EARLY } from './report.ts'
import type { Arrived, Cell, Load, Wait } from './report.ts'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

/**
 * A node at one end of a link: `worker <stack>`. libp2p's limits, timeouts, ping and connection
 * monitor are at their defaults.
 */

// as the native peers call them
const ECHO = '/echo/1.0.0'
const UPLOAD = '/sink/1.0.0'
const SLOW = '/fast-tcp/load/slow/1.0.0'
const TRANSFER = '/fast-tcp/load/transfer/1.0.0'
const CHUNK = new Uint8Array(64 * 1024).fill(7)
const MESSAGE = new Uint8Array(100).fill(1)
const ECHO_INTERVAL = 100
const STREAM_INTERVAL = 1_000
const IDLE_ECHOES = 9

/** What a slow handler takes for a message of 64 KiB, in ms; streams join messages that nobody has read */
const SLOWNESS = 20

const [name] = process.argv.slice(2) as [keyof typeof STACKS]
const stack = await STACKS[name]()
const arrived: Arrived = { uploads: [], early: 0 }
let firstArrival: number | undefined
let earlyBytes = 0
let readBytes = 0
let sentBytes = 0
let node: Libp2p

async function start (listen: string[]): Promise<void> {
  node = await stack.createLibp2p({ ...stack.options, addresses: { listen }, services: { ping: ping() }, connectionManager: { inboundConnectionThreshold: Infinity } })
}

const tasks = {
  async listen (host: string): Promise<string> {
    await start([multiaddrOf({ host, port: 0 })])
    await node.handle(ECHO, stream => {
      stream.addEventListener('message', ({ data }) => { stream.send(data) })
      stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
    })
    await node.handle(UPLOAD, stream => {
      const index = arrived.uploads.push(0) - 1
      stream.addEventListener('message', ({ data }) => { onArrival(index, data.byteLength) })
    })
    await node.handle(SLOW, readSlowly)
    await node.handle(TRANSFER, stream => {
      stream.addEventListener('message', () => {})
      stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
    })

    return node.getMultiaddrs()[0].toString()
  },

  arrived: (): Arrived => arrived,

  async load (address: string, { uploads }: Cell, duration: number): Promise<Load> {
    await start([])
    const connection = await node.dial(stack.multiaddr(address))
    const waits: Wait[] = []
    const echo = new Echo(await connection.newStream(ECHO, stack.streamOptions))
    const idle = await idleEcho(echo)
    const streams = await Promise.all(Array.from({ length: uploads }, async () => connection.newStream(UPLOAD, stack.streamOptions)))
    const began = performance.now()
    const over = Promise.withResolvers<Error | undefined>()
    const end = new AbortController()
    let rss = 0

    connection.addEventListener('close', ({ error }) => { over.resolve(error ?? new Error('closed')) })
    streams.forEach(stream => { upload(stream) })
    repeat(ECHO_INTERVAL, async () => timed('echo', async () => echo.once()))
    repeat(STREAM_INTERVAL, async () => timed('stream', async () => newEcho(connection)))

    const error = await Promise.race([over.promise, wait(duration)])
    const lived = performance.now() - began

    end.abort()
    connection.abort(new Error('The load is over'))

    return { idle, waits, lived, error: error == null ? undefined : `${error.name}: ${error.message}`, rss }

    async function timed (kind: Wait['kind'], run: () => Promise<void>): Promise<void> {
      const started = performance.now()
      const wait: Wait = { kind, at: Math.round(started - began) }

      waits.push(wait)
      rss = Math.max(rss, process.memoryUsage.rss())

      try {
        await run()

        if (!end.signal.aborted) {
          wait.ms = Math.round(performance.now() - started)
        }
      } catch {
        wait.hasFailed = !end.signal.aborted
      }
    }

    /** Whether or not the last one is over: slow ones would be asked for seldom */
    function repeat (interval: number, run: () => Promise<void>): void {
      void (async () => {
        while (!end.signal.aborted && connection.status === 'open') {
          void run()
          await wait(interval)
        }
      })()
    }
  },

  /** Sends so many bytes and waits whenever the stream asks for that */
  async sendPolitely (address: string, bytes: number): Promise<void> {
    await start([])
    const connection = await node.dial(stack.multiaddr(address))
    const stream = await connection.newStream(SLOW, stack.streamOptions)

    while (sentBytes < bytes) {
      const canSendMore = stream.send(CHUNK)
      sentBytes += CHUNK.byteLength

      if (!canSendMore) {
        await stream.onDrain()
      }
    }

    await stream.close()
  },

  /** @returns how many ms it takes on a new connection until all has arrived and the stream is closed */
  async transfer (address: string, size: number): Promise<number> {
    if (node == null) {
      await start([])
    }

    const connection = await node.dial(stack.multiaddr(address))
    const stream = await connection.newStream(TRANSFER, stack.streamOptions)
    const began = performance.now()
    const closed = pEvent(stream, 'close')

    for (let sent = 0; sent < size; sent += CHUNK.byteLength) {
      if (!stream.send(CHUNK)) {
        await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
      }
    }

    await stream.close()
    await closed
    const took = performance.now() - began
    await connection.close()

    return took
  },

  /** In bytes */
  progress: (): { rss: number, sent: number, read: number } => ({ rss: process.memoryUsage.rss(), sent: sentBytes, read: readBytes })
}

function onArrival (index: number, bytes: number): void {
  arrived.uploads[index] += bytes

  if (firstArrival == null) {
    firstArrival = performance.now()
    return
  }

  const since = performance.now() - firstArrival

  if (since <= EARLY) {
    earlyBytes += bytes
    arrived.early = earlyBytes / since
  }
}

async function readSlowly (stream: Stream): Promise<void> {
  for await (const message of stream) {
    await wait(SLOWNESS * message.byteLength / CHUNK.byteLength)
    readBytes += message.byteLength
  }
}

async function idleEcho (echo: Echo): Promise<number> {
  const samples: number[] = []

  while (samples.length < IDLE_ECHOES) {
    const started = performance.now()
    await echo.once()
    samples.push(performance.now() - started)
  }

  return median(samples)
}

/** As fast as the stream says that it takes more, in a microtask after 'drain', as with `await` */
function upload (stream: Stream): void {
  const fill = (): void => {
    try {
      while (stream.writeStatus === 'writable' && stream.send(CHUNK)) {
        // once more
      }
    } catch {
      // the connection is over, which is noted
    }
  }

  stream.addEventListener('drain', () => { queueMicrotask(fill) })
  fill()
}

async function newEcho (connection: Connection): Promise<void> {
  const stream = await connection.newStream(ECHO, stack.streamOptions)

  await new Echo(stream).once()
  stream.close().catch(() => {})
}

/** Sends messages on a stream and hears each come back */
class Echo {
  readonly #stream: Stream
  readonly #pending: Array<PromiseWithResolvers<void>> = []
  #bytes = 0

  constructor (stream: Stream) {
    this.#stream = stream
    stream.addEventListener('message', ({ data }) => {
      for (this.#bytes += data.byteLength; this.#bytes >= MESSAGE.byteLength; this.#bytes -= MESSAGE.byteLength) {
        this.#pending.shift()?.resolve()
      }
    })
    stream.addEventListener('close', () => {
      this.#pending.forEach(({ reject }) => { reject(new Error('The stream has ended')) })
    })
  }

  async once (): Promise<void> {
    const pending = Promise.withResolvers<void>()

    this.#stream.send(MESSAGE)
    this.#pending.push(pending)

    return pending.promise
  }
}

export type LoadTasks = typeof tasks

serve(tasks)
