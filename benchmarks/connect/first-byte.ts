import { raceSignal } from 'race-signal'
import type { Channel, FirstByte, Peer } from '../../test/lab/peers/contender.ts'

const TIMEOUT = 30_000

export function echo (channel: Channel): void {
  channel.onBytes = bytes => { channel.send(bytes.subarray()) }
}

/** Dials, has one byte echoed, and closes. */
export async function timeFirstByte (peer: Peer, address: string): Promise<FirstByte> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const started = performance.now()
  const connection = await peer.dial(address, signal)
  const opened = performance.now()

  try {
    const channel = await connection.open(signal)
    const streamed = performance.now()
    await raceSignal(roundTrip(channel), signal)
    const echoed = performance.now()
    await connection.close(signal)

    return {
      // a bare connection is all TCP
      ...connection.steps ?? { connect: opened - started, security: 0, muxer: 0 },
      stream: streamed - opened,
      firstByte: echoed - streamed,
      total: echoed - started,
      close: performance.now() - echoed
    }
  } catch (err) {
    connection.close(signal).catch(() => {})
    throw err
  }
}

async function roundTrip (channel: Channel): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()

  channel.onBytes = () => { resolve() }
  channel.whenClosed(err => { reject(err ?? new Error('The stream closed without an answer')) })
  channel.send(Uint8Array.of(1))

  await promise
}
