import { yamux as chainsafeYamux } from '@chainsafe/libp2p-yamux'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO, createNode } from '../fixtures/node.ts'
import { until } from '../fixtures/waiting.ts'
import { slowLine } from '../flow/fixtures/slow-line.ts'
import { UPLOAD, takeUploads, upload } from '../flow/fixtures/uploads.ts'
import type { Stream } from '@libp2p/interface'

const MUXERS: Record<string, () => any> = {
  '@libp2p/yamux': yamux,
  '@chainsafe/libp2p-yamux': chainsafeYamux
}

/** How often the connection drains while it is looked at */
const ROUNDS = 3

describe('js-libp2p #3463: tcp() with a muxer of somebody else', () => {
  const defer = cleanUpAfterEach()

  for (const [name, muxer] of Object.entries(MUXERS)) {
    it(`${name}: of the streams of a full connection those with little to send go first, and those with nothing last`, async () => {
      const options = { streamMuxers: [muxer()], connectionMonitor: { enabled: false } }
      const [dialer, listener] = await Promise.all([createNode(defer, options), createNode(defer, { listen: true, ...options })])
      const port = await slowLine(defer, Number(listener.getMultiaddrs()[0].getComponents()[1].value), 8 * MiB)
      const received = await takeUploads(listener)
      const connection = await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}/p2p/${listener.peerId}`))
      const [busy, idle, small] = [await connection.newStream(UPLOAD), await connection.newStream(ECHO), await connection.newStream(ECHO)]

      upload(busy, 'by one send of 100 MiB')
      await until(() => received[0] > MiB, 'the upload is under way')

      for (let round = 0; round < ROUNDS; round++) {
        await until(() => small.writableNeedsDrain && busy.writableNeedsDrain, 'the connection is full')

        const order: Stream[] = []
        const drained = [busy, idle, small].map(async stream => new Promise<void>(resolve => {
          stream.addEventListener('drain', () => {
            order.push(stream)
            resolve()
          }, { once: true })
        }))

        small.send(new Uint8Array(100))
        await Promise.all(drained)

        // window updates may have told the busy one before
        expect(order.filter(stream => stream !== busy).map(({ id }) => id)).to.deep.equal([small.id, idle.id])
        expect(order.indexOf(busy)).to.be.below(order.indexOf(idle))
      }

      connection.abort(new Error('The test is over'))
    })
  }
})
