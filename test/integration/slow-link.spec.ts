import { multiaddr } from '@multiformats/multiaddr'
import { itDeliversAtOnce } from '../fixtures/all-at-once.ts'
import { KiB, MiB, payload, sendPolitely, tally, Tallier } from '../fixtures/bytes.ts'
import { createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import { openProxy } from '../lab/link/proxy.ts'
import type { Tally } from '../fixtures/bytes.ts'

const PROTOCOL = '/test/swallow/1.0.0'

interface Case {
  title: string
  size: number
  /** Of the line, in bytes a ms */
  rate?: number

  /**
   * The remote stream is paused for so many ms
   */
  pauseFor?: number
}

const cases: Case[] = [
  { title: '3 MiB over a link of 3.2 MiB/s', size: 3 * MiB, rate: 64 * KiB / 20 },
  { title: '16 MiB over a link of 3.2 MiB/s', size: 16 * MiB, rate: 64 * KiB / 20 },
  { title: '3 MiB over a link of 0.8 MiB/s', size: 3 * MiB, rate: 256 * KiB / 300 },
  { title: '3 MiB to a stream that is paused for 2 s', size: 3 * MiB, pauseFor: 2_000 }
]

/**
 * yamux sends its window updates back all the time, which a closed socket would
 * answer with a reset
 */
describe('fault 1: everything sent over Noise and yamux before close() arrives', function () {
  this.timeout(60_000)

  itDeliversAtOnce(cases, async (defer, { size, rate, pauseFor }) => {
    const [dialer, listener] = await Promise.all([
      createNode(defer),
      createNode(defer, { listen: true })
    ])
    const received = Promise.withResolvers<Tally>()

    await listener.handle(PROTOCOL, (stream) => {
      const tallier = new Tallier()

      if (pauseFor != null) {
        stream.pause()
        setTimeout(() => { stream.resume() }, pauseFor)
      }

      stream.addEventListener('message', evt => { tallier.add(evt.data.subarray()) })
      stream.addEventListener('end', () => { received.resolve(tallier.result()) })
      stream.addEventListener('close', () => { received.resolve(tallier.result()) })
    })

    const port = portOf(listener.getMultiaddrs()[0])
    const proxy = await openProxy({ target: { host: '127.0.0.1', port }, up: { rate } })
    defer(async () => proxy.close())
    const connection = await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${proxy.port}/p2p/${listener.peerId}`))
    const stream = await connection.newStream(PROTOCOL)
    const data = payload(size)
    const signal = AbortSignal.timeout(20_000)

    await sendPolitely(stream, data, signal)
    await connection.close({ signal })

    return {
      sent: tally(data),
      received: await received.promise
    }
  })
})
