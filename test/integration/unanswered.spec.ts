import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { createLibp2p } from 'libp2p'
import { KiB, MiB, payload, readToEnd, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { portOf } from '../fixtures/raw.ts'
import { until } from '../fixtures/waiting.ts'
import { openProxy } from '../lab/link/proxy.ts'
import { stack } from '../lab/stacks.ts'
import type { Libp2p, Stream } from '@libp2p/interface'

const PROTOCOL = '/test/question/1.0.0'

/** How a node ends the connections on which it was asked something. Streams that it has answered in part, or closed, end as on js-yamux */
const answers: Record<string, { answer: string[], closes?: boolean, isWhole: boolean }> = {
  'was not answered': { answer: [], isWhole: false },
  'was answered': { answer: ['yes'], isWhole: true },
  'was answered by the end of the stream': { answer: [], closes: true, isWhole: true }
}

describe('a question on a connection that the other end closes', () => {
  const defer = cleanUpAfterEach()

  async function nodes (asker: 'ours' | 'official'): Promise<Libp2p[]> {
    const both = await Promise.all([
      createLibp2p(stack(asker)),
      createLibp2p({ ...stack('ours'), addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })
    ])

    defer(async () => { await Promise.all(both.map(async node => node.stop())) })

    return both
  }

  for (const asker of ['ours', 'official'] as const) {
    for (const [how, { answer, closes = false, isWhole }] of Object.entries(answers)) {
      it(`${isWhole ? 'ends well' : 'fails'} if it ${how}, asked by ${asker}`, async () => {
        const [asking, asked] = await nodes(asker)
        let hasHeard = false

        await asked.handle(PROTOCOL, async stream => {
          stream.addEventListener('message', () => { hasHeard = true })
          answer.forEach(text => { stream.send(new TextEncoder().encode(text)) })

          if (closes) {
            await stream.close()
          }
        })

        const stream = await asking.dialProtocol(asked.getMultiaddrs(), PROTOCOL)
        const reading = readToEnd(stream)

        reading.catch(() => {})
        stream.send(Uint8Array.of(1))
        await stream.close()
        await until(() => hasHeard, 'the question has come')
        await asked.getConnections()[0].close()

        if (isWhole) {
          expect(await reading).to.deep.equal(tally(new TextEncoder().encode(answer.join(''))))
        } else {
          await expect(reading).to.eventually.be.rejected.with.property('name', 'StreamResetError')
        }
      })
    }
  }

  it('goes on while the close waits for another stream, and may be answered', async () => {
    const [asking, asked] = await nodes('ours')
    const { port, close } = await openProxy({ target: { host: '127.0.0.1', port: portOf(asked.getMultiaddrs()[0]) }, down: { rate: 2_000 } })
    defer(close)

    const large = payload(4 * MiB)
    const question = payload(100 * KiB)
    const asks = Promise.withResolvers<void>()
    const connection = await asking.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}/p2p/${asked.peerId}`))

    await asked.handle('/test/large/1.0.0', async stream => {
      stream.send(large)
      await stream.close()
    })
    await asked.handle(PROTOCOL, async stream => {
      stream.addEventListener('message', () => { asks.resolve() }, { once: true })
      const { bytes } = await readToEnd(stream)
      stream.send(new TextEncoder().encode(`${bytes}`))
      await stream.close()
    })

    const download = readToEnd(await connection.newStream('/test/large/1.0.0'))
    const stream = await connection.newStream(PROTOCOL)
    const answer = readToEnd(stream)

    stream.send(question.subarray(0, KiB))
    await asks.promise

    const closing = asked.getConnections()[0].close({ signal: AbortSignal.timeout(20_000) })

    stream.send(question.subarray(KiB))
    await stream.close()

    expect(await answer).to.deep.equal(tally(new TextEncoder().encode(`${question.byteLength}`)))
    expect(await download).to.deep.equal(tally(large))
    await closing
  })

  it('fails for a handler that closes it too late', async () => {
    const [asking, asked] = await nodes('ours')
    const asks = Promise.withResolvers<Stream>()

    await asked.handle(PROTOCOL, stream => { asks.resolve(stream) })
    await asking.dialProtocol(asked.getMultiaddrs(), PROTOCOL)

    const stream = await asks.promise
    await asked.getConnections()[0].close()

    await expect(stream.close()).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
  })
})
