import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pipe } from 'it-pipe'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until, within } from '../fixtures/waiting.ts'
import { InOrder, numbered, sendNumbered } from './fixtures/numbered.ts'
import { countHeld, mostIn, readSlowly } from './fixtures/slow-reader.ts'
import { line, openStream } from './fixtures/stacks.ts'
import type { LineInit } from './fixtures/stacks.ts'
import type { Stream } from '@libp2p/interface'

/** The largest window of js-yamux */
const MAX_WINDOW = 16 * MiB

/** When a stream waits for its reader, and the message that makes it wait */
const QUEUED = 512 * KiB

const defer = cleanUpAfterEach()

/** A stream of two nodes, at both ends */
async function open (init?: LineInit): ReturnType<typeof openStream> {
  const { dialed, listener } = await line(defer, init)

  return openStream(dialed, listener)
}

describe('a handler that reads with for await', function () {
  this.timeout(60_000)

  const cases: LineInit[] = [
    { muxer: 'yamux' },
    { encrypter: 'tls' },
    { encrypter: 'plaintext' },
    { encrypter: 'optimistic(noise)' }
  ]

  for (const init of cases) {
    it(`makes a peer wait that is faster: ${Object.values(init)}`, async () => {
      const { outgoing, incoming } = await open(init)
      const taken = new InOrder()
      const held = countHeld(incoming, taken)
      const pace = { ms: 20 }
      const reading = readSlowly(incoming, taken, pace)
      const sender = sendNumbered(outgoing, 32 * MiB)

      expect(await mostIn(1_000, held)).to.be.at.most(MAX_WINDOW + QUEUED)
      expect(incoming.status).to.equal('open')

      pace.ms = 0
      await within(30_000, 'the rest', sender.done)
      await outgoing.close()
      await within(10_000, 'the end', reading)
      expect(taken.bytes).to.equal(sender.sent)
    })
  }

  if (isThorough) {
    it('holds little of 1 GiB', async () => {
      const { outgoing, incoming } = await open()
      const taken = new InOrder()
      const before = process.memoryUsage().arrayBuffers
      const sender = sendNumbered(outgoing, 1024 * MiB)
      let most = 0

      for await (const data of incoming) {
        taken.add(data)
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)

        // slow now and then
        if (taken.bytes % (100 * MiB) < 64 * KiB) {
          await delay(1_000)
        }

        if (taken.bytes === sender.sent && taken.bytes === 1024 * MiB) {
          break
        }
      }

      await sender.done
      // a window, what the sender keeps, and what is garbage already
      expect(most).to.be.at.most(200 * MiB)
    }).timeout(600_000)
  }

  it('makes a peer wait for a pipe', async () => {
    const { outgoing, incoming } = await open()
    const taken = new InOrder()
    const held = countHeld(incoming, taken)
    const sender = sendNumbered(outgoing, 32 * MiB)
    const pace = { ms: 20 }
    const piped = pipe(incoming, async (source: Stream) => readSlowly(source, taken, pace))

    expect(await mostIn(1_000, held)).to.be.at.most(MAX_WINDOW + QUEUED)

    pace.ms = 0
    await within(20_000, 'the rest', sender.done)
    await outgoing.close()
    await piped
    expect(taken.bytes).to.equal(sender.sent)
  })

  it('gets all that the peer sent before it closed its end', async () => {
    const { outgoing, incoming } = await open()
    const taken = new InOrder()
    const { done } = sendNumbered(outgoing, 8 * MiB)
    const closed = done.then(async () => outgoing.close())

    await readSlowly(incoming, taken, { ms: 5 })
    await closed
    expect(taken.bytes).to.equal(8 * MiB)
    expect(incoming.status).to.equal('open')
  })

  it('ends if it begins after the peer has closed its end', async () => {
    const { outgoing, incoming } = await open()
    const taken = new InOrder()

    outgoing.send(numbered(0, 100 * KiB))
    await outgoing.close()
    await until(() => incoming.readBufferLength === 100 * KiB, 'all has come')

    await readSlowly(incoming, taken, { ms: 0 })
    expect(taken.bytes).to.equal(100 * KiB)
  })

  it('may break, and leaves the stream open and the rest to the next reader', async () => {
    const { outgoing, incoming } = await open()
    const sender = sendNumbered(outgoing, 2 * MiB)
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
    await until(() => taken.bytes === 2 * MiB, 'all is there')
  })

  it('may break behind the end of the stream, and leaves the rest to the next loop', async () => {
    const { outgoing, incoming } = await open()
    await incoming.close()

    for (let i = 0; i < 3; i++) {
      outgoing.send(numbered(i * KiB, KiB))
    }

    const taken = new InOrder()

    for await (const data of incoming) {
      taken.add(data)

      await outgoing.close()
      await until(() => incoming.status === 'closed', 'the stream has ended')

      if (taken.bytes > 0) {
        break
      }
    }

    expect(taken.bytes).to.be.below(3 * KiB)
    await readSlowly(incoming, taken, { ms: 0 })
    expect(taken.bytes).to.equal(3 * KiB)
  })

  it('may break, and nobody else gets the rest a second time', async () => {
    const { outgoing, incoming } = await open()
    const other = new InOrder()
    const taken = new InOrder()

    incoming.addEventListener('message', ({ data }) => { other.add(data) })
    outgoing.send(numbered(0, KiB))

    for await (const data of incoming) {
      taken.add(data)
      outgoing.send(numbered(KiB, 100 * KiB))
      await until(() => other.bytes === 101 * KiB, 'more has come')

      if (taken.bytes > 0) {
        break
      }
    }

    await delay(20)
    expect(taken.bytes).to.equal(KiB)

    const reading = readSlowly(incoming, taken, { ms: 0 })

    // what comes while nobody loops is for who listens alone
    outgoing.send(numbered(101 * KiB, 100 * KiB))
    await outgoing.close()
    await reading
    expect(taken.bytes).to.equal(201 * KiB)
    expect(other.bytes).to.equal(201 * KiB)
  })

  it('gets what waits, and then the error that resets the stream, or aborts it', async () => {
    for (const by of ['peer', 'reader'] as const) {
      const { outgoing, incoming } = await open()
      const { done } = sendNumbered(outgoing, 64 * MiB)
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
      expect(afterwards).to.be.above(0)
      await done.catch(() => {})
    }
  })

  it('gets what came before the connection was closed', async () => {
    const { listener, dialed } = await line(defer)
    const { outgoing, incoming } = await openStream(dialed, listener)
    const taken = new InOrder()
    const reading = readSlowly(incoming, taken, { ms: 50 })

    await within(10_000, 'sending', sendNumbered(outgoing, 2 * MiB).done)
    await dialed.close()
    await within(20_000, 'the end', reading)
    expect(taken.bytes).to.equal(2 * MiB)
  })
})
