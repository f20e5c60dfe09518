import { setTimeout as delay } from 'node:timers/promises'
import { defaultLogger } from '@libp2p/logger'
import { passThrough, toMultiaddr } from '../../fixtures/raw.ts'
import { tcp } from '../../fixtures/transport.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** So many addresses of this machine, lest the ports of one run out */
const ADDRESSES = 8

const MESSAGE = new Uint8Array(1_000).fill(7)

export interface EchoTransport {
  addrs: Multiaddr[]
  dial(addr: Multiaddr, signal?: AbortSignal): Promise<MultiaddrConnection>
  dialAndEcho(addr: Multiaddr): Promise<void>

  /** Aborts while connecting, or after that */
  abortAtRandom(addr: Multiaddr, random: () => number): Promise<void>
}

/**
 * A transport that dials itself. Unlike the fixture of the specs it keeps
 * nothing of connections that are gone, since it is there to see who does.
 */
export async function echoTransport (defer: Defer): Promise<EchoTransport> {
  const transport = tcp()({ logger: defaultLogger() })
  const addrs: Multiaddr[] = []

  defer(async () => transport.stop?.())

  for (let i = 0; i < ADDRESSES; i++) {
    const listener = transport.createListener({
      upgrader: passThrough(conn => {
        conn.addEventListener('message', ({ data }) => { conn.send(data) })
      })
    })

    await listener.listen(toMultiaddr(`/ip4/127.0.0.${2 + i}/tcp/0`))
    defer(async () => listener.close())
    addrs.push(...listener.getAddrs())
  }

  async function dial (addr: Multiaddr, signal = new AbortController().signal): Promise<MultiaddrConnection> {
    return await transport.dial(addr, { upgrader: passThrough(), signal }) as unknown as MultiaddrConnection
  }

  async function dialAndEcho (addr: Multiaddr): Promise<void> {
    const conn = await dial(addr)
    const echoed = new Promise<void>((resolve, reject) => {
      let bytes = 0

      conn.addEventListener('message', ({ data }) => {
        bytes += data.byteLength

        if (bytes === MESSAGE.byteLength) {
          resolve()
        }
      })
      conn.addEventListener('close', () => { reject(new Error('closed before the echo')) })
    })

    conn.send(MESSAGE)
    await echoed
    await conn.close()
  }

  async function abortAtRandom (addr: Multiaddr, random: () => number): Promise<void> {
    const controller = new AbortController()
    const dialing = dial(addr, controller.signal)

    if (random() < 0.5) {
      controller.abort()
      await dialing.catch(() => {})
      return
    }

    const conn = await dialing
    conn.send(MESSAGE)

    if (random() < 0.5) {
      await delay(1)
    }

    conn.abort(new Error('enough'))
  }

  return { addrs, dial, dialAndEcho, abortAtRandom }
}
