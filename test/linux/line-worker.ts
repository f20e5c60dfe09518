import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { tcp } from '../../src/index.ts'
import { linux } from '../../src/linux/index.ts'
import { multiaddrOf } from '../lab/peers/address.ts'
import { serve } from '../lab/process/serve.ts'
import type { LinuxInit } from '../../src/linux/index.ts'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

/*
 * A node at one end of a link: `official`, `without` (our transport without `linux()`), or the options of `linux()` as JSON. The
 * connection monitor is off: it would end a connection whose ping is late.
 */

const PROTOCOL = '/fast-tcp/line/1.0.0'
const CHUNK = new Uint8Array(64 * 1024).fill(7)

const [kind] = process.argv.slice(2)
let node: Libp2p
let connection: Connection
let received = 0

async function start (listen: string[]): Promise<void> {
  node = await createLibp2p({
    addresses: { listen },
    transports: [transport()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    logger: defaultLogger()
  })
}

function transport (): ReturnType<typeof tcp> {
  switch (kind) {
    case 'official': return officialTcp() as ReturnType<typeof tcp>
    case 'without': return tcp()
    default: return tcp({ linux: linux(JSON.parse(kind) as LinuxInit) })
  }
}

const tasks = {
  async listen (host: string): Promise<string> {
    await start([multiaddrOf({ host, port: 0 })])
    await node.handle(PROTOCOL, stream => { stream.addEventListener('message', ({ data }) => { received += data.byteLength }) })

    return node.getMultiaddrs()[0].toString()
  },

  /** In bytes */
  received: (): number => received,

  /** Sends without end, as fast as the stream says that it takes more */
  async upload (address: string): Promise<void> {
    await start([])
    connection = await node.dial(multiaddr(address))

    fill(await connection.newStream(PROTOCOL))
  },

  /** How long until the connection ends by itself, in ms, and with which error. Undefined if it lives longer than that */
  async ended (within: number): Promise<{ ms: number, error: string } | undefined> {
    const start = performance.now()
    const { promise, resolve } = Promise.withResolvers<{ ms: number, error: string } | undefined>()

    setTimeout(() => { resolve(undefined) }, within)
    connection.addEventListener('close', ({ error }) => {
      resolve({ ms: performance.now() - start, error: `${error?.name}: ${error?.message}` })
    })

    return promise
  }
}

function fill (stream: Stream): void {
  const send = (): void => {
    try {
      while (stream.writeStatus === 'writable' && stream.send(CHUNK)) {
        // once more
      }
    } catch {
      // the connection is over
    }
  }

  stream.addEventListener('drain', () => { queueMicrotask(send) })
  send()
}

export type LineTasks = typeof tasks

serve(tasks)
