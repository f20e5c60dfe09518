import { lpStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import * as lp from 'it-length-prefixed'
import { chunks, collect, KiB, MiB, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO, connectedNodes, families } from '../fixtures/node.ts'
import { until, within } from '../fixtures/waiting.ts'
import type { TestNode } from '../fixtures/node.ts'
import type { Connection } from '@libp2p/interface'

type Family = keyof typeof families

const pairs: Array<[Family, Family]> = [
  ['@libp2p', '@libp2p'],
  ['@chainsafe', '@chainsafe'],
  ['@libp2p', '@chainsafe'],
  ['@chainsafe', '@libp2p']
]

for (const [dialerFamily, listenerFamily] of pairs) {
  describe(`two nodes: Noise and yamux of ${dialerFamily} dial those of ${listenerFamily}`, function () {
    this.timeout(30_000)

    const defer = cleanUpAfterEach()

    let dialer: TestNode
    let listener: TestNode
    let connection: Connection

    beforeEach(async () => {
      ({ dialer, listener, connection } = await connectedNodes(defer, { family: dialerFamily }, { family: listenerFamily }))
    })

    it('echo', async () => {
      const data = payload(100 * KiB)
      const stream = await connection.newStream(ECHO)
      const received = collect(stream)

      stream.send(data)
      await stream.close()
      await until(() => received.bytes === data.byteLength, 'all came back')

      expect(received.result()).to.deep.equal(tally(data))
    })

    it('identify each other', async () => {
      // on their own, as soon as they are connected
      for (const [node, remote] of [[dialer, listener], [listener, dialer]]) {
        await until(async () => {
          const { metadata, protocols } = await node.peerStore.get(remote.peerId)

          return protocols.includes(ECHO) && metadata.has('AgentVersion')
        }, 'one knows the other')
      }
    })

    it('ping', async () => {
      expect(await dialer.services.ping.ping(listener.peerId)).to.be.at.least(0)
      expect(await listener.services.ping.ping(dialer.peerId)).to.be.at.least(0)
    })

    it('tell each other of a close', async () => {
      const [inbound] = listener.getConnections(dialer.peerId)

      await connection.close()
      expect(connection.status).to.equal('closed')
      await until(() => listener.getConnections().length === 0, 'the listener noticed')
      expect(inbound.status).to.equal('closed')
    })
  })
}

describe('one connection between two nodes', function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  let dialer: TestNode
  let listener: TestNode
  let connection: Connection

  beforeEach(async () => {
    ({ dialer, listener, connection } = await connectedNodes(defer))
  })

  it('carries 100 streams at once', async () => {
    const streams = await Promise.all(Array.from({ length: 100 }, async () => connection.newStream(ECHO, {
      maxOutboundStreams: 1_000
    })))
    expect(connection.streams.filter(({ protocol }) => protocol === ECHO)).to.have.lengthOf(100)

    await Promise.all(streams.map(async stream => {
      const data = payload(64 * KiB)
      const received = collect(stream)

      stream.send(data)
      await stream.close()
      await until(() => received.bytes === data.byteLength, 'all came back')
      expect(received.result()).to.deep.equal(tally(data))
    }))

    expect(dialer.getConnections()).to.have.lengthOf(1)
    expect(listener.getConnections()).to.have.lengthOf(1)
    await until(() => connection.streams.filter(({ protocol }) => protocol === ECHO).length === 0, 'all streams are closed')
  })

  it('is used again by a second dial', async () => {
    expect(await dialer.dial(listener.getMultiaddrs())).to.equal(connection)
    expect(await dialer.dial(listener.peerId)).to.equal(connection)
    expect((await Promise.all([
      dialer.dial(listener.peerId),
      dialer.dial(listener.getMultiaddrs()[0])
    ])).map(({ id }) => id)).to.deep.equal([connection.id, connection.id])
    await until(() => listener.getConnections().length === 1, 'the listener has one connection')
  })

  it('carries 1 MiB messages in frames', async () => {
    const stream = await connection.newStream(ECHO)
    const messages = lpStream(stream, { maxDataLength: 4 * MiB })

    for (let i = 0; i < 5; i++) {
      const message = payload(MiB)
      await messages.write(message)
      const answer = await within(10_000, 'the answer', messages.read())

      expect(tally(answer.subarray())).to.deep.equal(tally(message))
    }
  })

  it('carries 1 MiB messages in frames that are cut into small chunks', async () => {
    const stream = await connection.newStream(ECHO)
    const sent = Array.from({ length: 5 }, () => payload(MiB))
    const received: Array<ReturnType<typeof tally>> = []

    await Promise.all([
      (async () => {
        for (const frame of lp.encode(sent)) {
          for (const chunk of chunks(frame, 1_000)) {
            if (!stream.send(chunk)) {
              await stream.onDrain()
            }
          }
        }

        await stream.close()
      })(),
      (async () => {
        for await (const message of lp.decode(stream, { maxDataLength: 4 * MiB })) {
          received.push(tally(message.subarray()))
        }
      })()
    ])

    expect(received).to.deep.equal(sent.map(tally))
  })
})
