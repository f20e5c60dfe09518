import { setTimeout as delay } from 'node:timers/promises'
import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { within } from '../fixtures/waiting.ts'
import { InOrder, sendNumbered } from './fixtures/numbered.ts'
import { line, openStream } from './fixtures/stacks.ts'

const defer = cleanUpAfterEach()

describe('a handler that reads with byteStream', function () {
  this.timeout(60_000)

  it('holds no more than 4 MiB that it has not read, and then loses the stream', async () => {
    const { dialed, listener } = await line(defer)
    const { outgoing, incoming } = await openStream(dialed, listener)
    const sender = sendNumbered(outgoing, 64 * MiB)
    const bytes = byteStream(incoming)
    let arrived = 0

    incoming.addEventListener('message', ({ data }) => { arrived += data.byteLength })
    await expect(pEvent(incoming, 'close')).to.eventually.have.nested.property('error.name', 'StreamBufferError')
    await expect(bytes.read()).to.eventually.be.rejected.with.property('name', 'StreamBufferError')
    expect(arrived).to.be.at.most(5 * MiB)
    await sender.done.catch(() => {})
  })

  it('makes the peer wait if it pauses the stream behind each read and has room for a window', async () => {
    const { dialed, listener } = await line(defer, {})
    const { outgoing, incoming } = await openStream(dialed, listener)
    const sender = sendNumbered(outgoing, 32 * MiB)
    const bytes = byteStream(incoming, { maxBufferSize: 32 * MiB })
    const taken = new InOrder()

    while (taken.bytes < 32 * MiB) {
      incoming.resume()
      const data = await bytes.read({ bytes: MiB })
      incoming.pause()
      taken.add(data)
      await delay(20)
    }

    await within(10_000, 'the end', sender.done)
  })
})
