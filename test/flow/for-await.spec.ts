import { setTimeout as delay } from 'node:timers/promises'
import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pipe } from 'it-pipe'
import { pEvent } from 'p-event'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until, untilStill, within } from '../fixtures/waiting.ts'
import { InOrder, numbered } from './fixtures/numbered.ts'
import { line } from './fixtures/stacks.ts'
import type { LineInit } from './fixtures/stacks.ts'
import type { Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

const KIB = 1024
const MIB = 1024 * KIB
const READ = '/test/read/1.0.0'

/** The largest window of js-yamux */
const MAX_WINDOW = 16 * MIB

/** When a stream waits for its reader, and the message that makes it wait */
const QUEUED = 512 * KIB

const defer = cleanUpAfterEach()

interface Sender {
  stream: Stream
  sent: number
  done: Promise<void>
}

function sendPolitely (stream: Stream, total: number, size = 64 * KIB): Sender {
  const sender: Sender = { stream, sent: 0, done: Promise.resolve() }

  sender.done = (async () => {
    while (sender.sent < total) {
      const message = numbered(sender.sent, size)

      sender.sent += message.byteLength

      if (!stream.send(message)) {
        await stream.onDrain()
      }
    }
  })()
  // it may be awaited after the stream has ended
  sender.done.catch(() => {})

  return sender
}

/** A stream at both ends */
async function openStream (init?: LineInit): Promise<{ outgoing: Stream, incoming: Stream }> {
  const { listener, dialed } = await line(defer, init)
  const { promise, resolve } = Promise.withResolvers<Stream>()

  await listener.handle(READ, resolve)
  const outgoing = await dialed.newStream(READ)

  return { outgoing, incoming: await promise }
}

/** What has arrived and was not taken */
function countHeld (stream: Stream, taken: InOrder): () => number {
  let emitted = 0

  stream.addEventListener('message', ({ data }) => { emitted += data.byteLength })

  return () => emitted - taken.bytes + stream.readBufferLength
}

describe('a handler that reads with byteStream', function () {
  this.timeout(60_000)

  it('holds no more than 4 MiB that it has not read, and then loses the stream', async () => {
    const { outgoing, incoming } = await openStream()
    const sender = sendPolitely(outgoing, 64 * MIB)
    const bytes = byteStream(incoming)
    let arrived = 0

    incoming.addEventListener('message', ({ data }) => { arrived += data.byteLength })
    await expect(pEvent(incoming, 'close')).to.eventually.have.nested.property('error.name', 'StreamBufferError')
    await expect(bytes.read()).to.eventually.be.rejected.with.property('name', 'StreamBufferError')
    expect(arrived).to.be.at.most(5 * MIB)
    await sender.done.catch(() => {})
  })

  it('makes the peer wait if it pauses the stream behind each read and has room for a window', async () => {
    const { outgoing, incoming } = await openStream({ muxer: 'optimistic(yamux)' })
    const sender = sendPolitely(outgoing, 32 * MIB)
    const bytes = byteStream(incoming, { maxBufferSize: 2 * MAX_WINDOW })
    const taken = new InOrder()

    while (taken.bytes < 32 * MIB) {
      incoming.resume()
      const data = await bytes.read({ bytes: MIB })
      incoming.pause()
      taken.add(data)
      await delay(20)
    }

    await within(10_000, 'the end', sender.done)
  })
})

describe('a handler that reads with for await', function () {
  this.timeout(60_000)

  const cases: LineInit[] = [
    { muxer: 'yamux' },
    { muxer: 'chainsafe yamux' },
    { muxer: 'optimistic(yamux)' },
    { encrypter: 'tls' },
    { encrypter: 'plaintext' },
    { encrypter: 'optimistic(noise)', muxer: 'optimistic(yamux)' }
  ]

  for (const init of cases) {
    it(`makes a peer wait that is faster: ${Object.values(init)}`, async () => {
      const { listener, dialed } = await line(defer, init)
      const { promise, resolve } = Promise.withResolvers<Stream>()
      const taken = new InOrder()
      const ended = Promise.withResolvers<void>()
      let isSlow = true
      let held = (): number => 0

      await listener.handle(READ, async stream => {
        held = countHeld(stream, taken)
        resolve(stream)

        for await (const data of stream) {
          taken.add(data)

          if (isSlow) {
            await delay(20)
          }
        }

        ended.resolve()
      })

      const outgoing = await dialed.newStream(READ)
      const sender = sendPolitely(outgoing, 200 * MIB)
      const incoming = await promise
      let most = 0

      for (let i = 0; i < 100; i++) {
        most = Math.max(most, held())
        await delay(20)
      }

      expect(most).to.be.at.most(MAX_WINDOW + QUEUED)
      expect(incoming.status).to.equal('open')

      isSlow = false
      await within(30_000, 'the rest', sender.done)
      await outgoing.close()
      await within(10_000, 'the end', ended.promise)
      expect(taken.bytes).to.equal(sender.sent)
    })
  }

  if (isThorough) {
    for (const muxer of ['yamux', 'optimistic(yamux)'] as const) {
      it(`holds little of 1 GiB: ${muxer}`, async () => {
        const { outgoing, incoming } = await openStream({ muxer })
        const taken = new InOrder()
        const before = process.memoryUsage().arrayBuffers
        const sender = sendPolitely(outgoing, 1024 * MIB)
        let most = 0

        for await (const data of incoming) {
          taken.add(data)
          most = Math.max(most, process.memoryUsage().arrayBuffers - before)

          // slow now and then
          if (taken.bytes % (100 * MIB) < 64 * KIB) {
            await delay(1_000)
          }

          if (taken.bytes === sender.sent && taken.bytes === 1024 * MIB) {
            break
          }
        }

        await sender.done
        // a window, what the sender keeps, and what is garbage already
        expect(most).to.be.at.most(200 * MIB)
      }).timeout(600_000)
    }
  }

  it('makes a peer wait for a pipe', async () => {
    const { outgoing, incoming } = await openStream()
    const taken = new InOrder()
    const held = countHeld(incoming, taken)
    const sender = sendPolitely(outgoing, 100 * MIB)
    let isSlow = true

    const piped = pipe(incoming, async source => {
      for await (const data of source as AsyncIterable<Uint8Array | Uint8ArrayList>) {
        taken.add(data)

        if (isSlow) {
          await delay(20)
        }
      }
    })

    await untilStill(() => sender.sent)
    expect(held()).to.be.at.most(MAX_WINDOW + QUEUED)

    isSlow = false
    await within(20_000, 'the rest', sender.done)
    await outgoing.close()
    await piped
    expect(taken.bytes).to.equal(sender.sent)
  })

  it('gets all that the peer sent before it closed its end', async () => {
    const { outgoing, incoming } = await openStream()
    const taken = new InOrder()
    const { done } = sendPolitely(outgoing, 8 * MIB)
    const closed = done.then(async () => outgoing.close())

    for await (const data of incoming) {
      taken.add(data)
      await delay(5)
    }

    await closed
    expect(taken.bytes).to.equal(8 * MIB)
    expect(incoming.status).to.equal('open')
  })

  it('ends if it begins after the peer has closed its end', async () => {
    const { outgoing, incoming } = await openStream()
    const taken = new InOrder()

    outgoing.send(numbered(0, 100 * KIB))
    await outgoing.close()
    await until(() => incoming.remoteWriteStatus === 'closed', 'FIN has come')

    for await (const data of incoming) {
      taken.add(data)
    }

    expect(taken.bytes).to.equal(100 * KIB)
  })

  it('may break, and leaves the stream open and the rest to the next reader', async () => {
    const { outgoing, incoming } = await openStream()
    const sender = sendPolitely(outgoing, 2 * MIB)
    const taken = new InOrder()

    for await (const data of incoming) {
      taken.add(data)
      await delay(200)

      if (taken.bytes > 0) {
        break
      }
    }

    expect(incoming.readStatus).to.equal('readable')
    incoming.addEventListener('message', ({ data }) => { taken.add(data) })
    await within(10_000, 'the rest', sender.done)
    await until(() => taken.bytes === 2 * MIB, 'all is there')
  })

  it('gets the error that resets the stream, or aborts it, and does not get what waits', async () => {
    for (const by of ['peer', 'reader'] as const) {
      const { outgoing, incoming } = await openStream()
      const { done } = sendPolitely(outgoing, 64 * MIB)
      const error = new Error('Enough')
      let afterwards = 0

      const reading = (async () => {
        let isOver = false

        for await (const data of incoming) {
          if (isOver) {
            afterwards += data.byteLength
            continue
          }

          isOver = true
          await delay(300)

          if (by === 'peer') {
            outgoing.abort(error)
            await until(() => incoming.status === 'reset', 'the stream is reset')
          } else {
            incoming.abort(error)
          }
        }
      })()

      await expect(reading).to.eventually.be.rejected.with.property('name', by === 'peer' ? 'StreamResetError' : 'Error')
      expect(afterwards).to.equal(0)
      await done.catch(() => {})
    }
  })

  it('gets what came before the connection was closed', async () => {
    const { listener, dialed } = await line(defer)
    const { promise, resolve } = Promise.withResolvers<Stream>()

    await listener.handle(READ, resolve)

    const outgoing = await dialed.newStream(READ)
    const incoming = await promise
    const taken = new InOrder()

    const reading = (async () => {
      for await (const data of incoming) {
        taken.add(data)
        await delay(100)
      }
    })()

    await within(10_000, 'sending', sendPolitely(outgoing, 4 * MIB).done)
    await dialed.close()
    await within(20_000, 'the end', reading)
    expect(taken.bytes).to.equal(4 * MIB)
  })

  it('reads as ever where the muxer cannot make the peer wait (mplex)', async () => {
    const { outgoing, incoming } = await openStream({ muxer: 'mplex' })
    const taken = new InOrder()
    const sender = sendPolitely(outgoing, 16 * MIB)
    const closed = sender.done.then(async () => outgoing.close())

    for await (const data of incoming) {
      taken.add(data)
      await delay(5)
    }

    await closed
    expect(taken.bytes).to.equal(16 * MIB)
  })
})
