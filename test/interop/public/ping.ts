import { multiaddr } from '@multiformats/multiaddr'
import type { Libp2p, Stream } from '@libp2p/interface'

const PING = '/ipfs/ping/1.0.0'
const SIZE = 32

/**
 * Dials, and pings once on a stream. `negotiateFully: false` is a caller's word that the other end has ping; it changes
 * nothing with the official transport.
 *
 * @returns ms until the ping was answered, from the dial on and from its first byte on
 */
export async function dialAndPing (node: Libp2p, address: string, signal: AbortSignal): Promise<{ total: number, ping: number }> {
  const start = performance.now()
  const connection = await node.dial(multiaddr(address), { signal })
  const stream = await connection.newStream(PING, { signal, negotiateFully: false })
  const ping = await pingOver(stream, signal)
  const total = performance.now() - start

  await stream.close({ signal })

  return { total, ping }
}

/** @returns how long the answer took, in ms */
export async function pingOver (stream: Stream, signal: AbortSignal): Promise<number> {
  const sent = crypto.getRandomValues(new Uint8Array(SIZE))
  const answered = echoOf(stream, sent, signal)
  const start = performance.now()

  stream.send(sent)
  await answered

  return performance.now() - start
}

async function echoOf (stream: Stream, sent: Uint8Array, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let received = Buffer.alloc(0)

  stream.addEventListener('close', ({ error }) => { reject(error ?? new Error('The stream closed before the answer')) })
  stream.addEventListener('message', ({ data }) => {
    received = Buffer.concat([received, data.subarray()])

    if (received.byteLength < SIZE) {
      return
    }

    if (received.equals(sent)) {
      resolve()
    } else {
      reject(new Error('The answer differs from what was sent'))
    }
  }, { signal })
  signal.addEventListener('abort', () => { reject(signal.reason) })

  return promise
}

/** What unified-testing reads from the dialer's stdout. Everything else goes to stderr */
export function printLatency ({ total, ping }: { total: number, ping: number }): void {
  process.stdout.write(`latency:\n  handshake_plus_one_rtt: ${total.toFixed(3)}\n  ping_rtt: ${ping.toFixed(3)}\n  unit: ms\n`)
}
