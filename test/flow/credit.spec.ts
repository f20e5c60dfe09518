import { setTimeout as delay } from 'node:timers/promises'
import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { Decoder } from '../../src/yamux/decoder.ts'
import { Flag, FrameType, HEADER_BYTES, writeHeader } from '../../src/yamux/frames.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO } from '../fixtures/node.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until, within } from '../fixtures/waiting.ts'
import { joined, message } from '../negotiation/fixtures/proposals.ts'
import { firstByte } from '../negotiation/fixtures/stacks.ts'
import { InOrder, sendNumbered } from './fixtures/numbered.ts'
import { countHeld, mostIn, readSlowly } from './fixtures/slow-reader.ts'
import { PROTOCOL, openStream, stockLine } from './fixtures/stacks.ts'
import { UPLOAD, takeUploads, upload } from './fixtures/uploads.ts'
import { countUpdates, updatesOf } from './fixtures/window-updates.ts'
import type { YamuxOptions } from '../../src/index.ts'
import type { Stream, StreamMessageEvent } from '@libp2p/interface'

const READ = '/test/read/1.0.0'
const FIRST_WINDOW = 256 * KiB

const defer = cleanUpAfterEach()

/** A stream of js-yamux, which is told of window updates */
interface UpdatedStream extends Stream {
  handleWindowUpdate(frame: { header: { length: number } }): void
}

/**
 * A stock peer sends messages on one stream, each when the one before was echoed.
 *
 * @returns how many updates of its window have come by now
 */
async function countEchoUpdates (messages: number, size: number): Promise<() => number> {
  const { dialed } = await stockLine(defer)
  const stream = await dialed.newStream(ECHO)
  const updates = updatesOf(stream)
  const echoed = { bytes: 0 }

  stream.addEventListener('message', ({ data }) => { echoed.bytes += data.byteLength })

  for (let i = 1; i <= messages; i++) {
    stream.send(new Uint8Array(size))
    await until(() => echoed.bytes === i * size, 'it was echoed')
  }

  return updates
}

/** What else a process does meanwhile, in ms */
function spin (ms: number): void {
  const end = performance.now() + ms

  while (performance.now() < end) {
    // nothing
  }
}

describe('credit for a peer of stock js-libp2p', function () {
  this.timeout(60_000)

  it('js-libp2p #3463: lets its echoes and new streams through beside its upload', async () => {
    const { listener, dialed } = await stockLine(defer, { bytesPerSecond: 1.25 * MiB })
    const received = await takeUploads(listener)
    const old = byteStream(await dialed.newStream(ECHO))

    upload(await dialed.newStream(UPLOAD))
    await until(() => received[0] > 2 * MiB, 'the upload is under way', 20_000)

    const echo = async (bytes: typeof old): Promise<void> => {
      await bytes.write(new Uint8Array(100))
      await bytes.read({ bytes: 100 })
    }

    await within(5_000, 'echoes', Promise.all([echo(old), dialed.newStream(ECHO).then(async stream => echo(byteStream(stream)))]))
    expect(dialed.status).to.equal('open')
    dialed.abort(new Error('The test is over'))
  })

  it('js-libp2p #3463: lets its new streams through beside uploads that have larger windows than its socket takes', async () => {
    const { listener, dialed } = await stockLine(defer, { bytesPerSecond: 16 * MiB, yamux: { streamOptions: { initialStreamWindowSize: 256 * MiB, maxStreamWindowSize: 256 * MiB } } })
    const received = await takeUploads(listener)

    const stream = await dialed.newStream(UPLOAD)
    const fill = (): void => {
      while (stream.writeStatus === 'writable' && stream.send(new Uint8Array(64 * KiB))) {
        // once more
      }
    }

    // before the streams that are told of 'drain' later
    stream.addEventListener('drain', () => { queueMicrotask(fill) })
    fill()
    await until(() => received[0] > 16 * MiB, 'the upload is under way', 20_000)

    const newEcho = async (): Promise<void> => {
      const stream = byteStream(await dialed.newStream(ECHO))

      await stream.write(new Uint8Array(100))
      await stream.read({ bytes: 100 })
    }

    await within(30_000, 'an echo on a new stream', newEcho())
    expect(received[0], 'the windows are not used up').to.be.below(240 * MiB)
    dialed.abort(new Error('The test is over'))
  })

  it('is not sent for each message', async () => {
    const { listener, dialed } = await stockLine(defer)
    const updates = await countUpdates(dialed, listener, 100)

    expect(updates()).to.be.at.most(4)
  })

  it('is not sent for each small message that is answered', async () => {
    const updates = await countEchoUpdates(20, KiB)

    expect(updates()).to.be.at.most(4)
  })

  it('is not sent for each larger one of those', async () => {
    const updates = await countEchoUpdates(20, 16 * KiB)

    expect(updates()).to.be.at.most(8)
  })

  const configured: Record<string, YamuxOptions> = {
    'windows that do not grow': { streamOptions: { maxStreamWindowSize: FIRST_WINDOW } },
    'windows that begin with 1 MiB at both ends': { streamOptions: { initialStreamWindowSize: MiB } },
    'no pings': { enableKeepAlive: false }
  }

  for (const [title, init] of Object.entries(configured)) {
    it(`lets all through with ${title}`, async () => {
      const { listener, dialed } = await stockLine(defer, { yamux: init })
      const inOrder = new InOrder()

      await listener.handle(READ, stream => {
        stream.addEventListener('message', ({ data }) => { inOrder.add(data) })
      })

      const stream = await dialed.newStream(READ)
      await within(20_000, 'sending', sendNumbered(stream, 8 * MiB).done)
      await stream.close()
      await until(() => inOrder.bytes === 8 * MiB, 'all is there')
    })
  }

  for (const firstWindow of isThorough ? [FIRST_WINDOW, MiB] : [FIRST_WINDOW]) {
    it(`grows over a long path from windows that begin with ${firstWindow / KiB} KiB at both ends, again and again if the receiver resets its streams`, async () => {
      const { listener, dialed } = await stockLine(defer, { delay: 40, yamux: { streamOptions: { initialStreamWindowSize: firstWindow } } })

      // all windows together may have 32 MiB
      for (let i = 0; i < 9; i++) {
        const { outgoing, incoming } = await openStream(dialed, listener)
        const updated = outgoing as UpdatedStream
        const { handleWindowUpdate } = updated
        let window = firstWindow
        let most = 0

        incoming.addEventListener('message', ({ data }) => { window -= data.byteLength })
        updated.handleWindowUpdate = frame => {
          window += frame.header.length
          most = Math.max(most, window)
          handleWindowUpdate.call(outgoing, frame)
        }
        upload(outgoing)
        await until(() => most > 4 * MiB, `the window of stream ${i} has grown`, 30_000)
        incoming.abort(new Error('It has enough'))
        await until(() => outgoing.status !== 'open', 'the stream is reset')
        await listener.unhandle(PROTOCOL)
      }
    })
  }

  it('is one window for data that comes in one message with the opening of its stream', async () => {
    const { listener, dialed } = await stockLine(defer)
    let taken = 0
    await listener.handle(READ, stream => {
      stream.addEventListener('message', ({ data }) => { taken += data.byteLength })
    })

    const streamId = 10_001
    const frame = (type: number, flags: number, data: Uint8Array): Uint8Array => {
      const header = new Uint8Array(HEADER_BYTES)
      writeHeader(header, type, flags, streamId, data.byteLength)

      return joined(header, data)
    }
    let granted = 0
    const decoder = new Decoder({ onDataHeader: () => false, onPart: () => {} })
    // behind the answer to the first ping of yamux, before which it grants little in any case
    await firstByte(await dialed.newStream(ECHO))

    // as one who attacks
    const { maConn } = (dialed as any).muxer

    maConn.addEventListener('message', ({ data }: StreamMessageEvent) => {
      decoder.push(data)

      for (let frame = decoder.next(); frame != null; frame = decoder.next()) {
        granted += frame.type === FrameType.windowUpdate && frame.streamId === streamId ? frame.length : 0
      }
    })
    maConn.send(joined(
      frame(FrameType.windowUpdate, Flag.syn, new Uint8Array()),
      frame(FrameType.data, 0, joined(message('/multistream/1.0.0'), message(READ))),
      ...Array.from({ length: 10 }, () => frame(FrameType.data, 0, Uint8Array.of(1)))
    ))

    await until(() => taken === 10, 'the data is read')
    // what is granted comes before this
    await firstByte(await dialed.newStream(ECHO))

    expect(granted).to.be.at.most(FIRST_WINDOW)
  })

  it('waits for a handler that begins to read late', async () => {
    const { listener, dialed } = await stockLine(defer)
    const inOrder = new InOrder()
    const unread: number[] = []

    await listener.handle(READ, async stream => {
      await delay(1_000)
      unread.push(stream.readBufferLength)
      stream.addEventListener('message', ({ data }) => { inOrder.add(data) })
    })

    await within(20_000, 'sending', sendNumbered(await dialed.newStream(READ), 16 * MiB).done)
    await until(() => inOrder.bytes === 16 * MiB, 'all is there')
    expect(unread[0]).to.be.at.most(MiB)
  })

  for (const [machine, stall] of [['an idle', 0], ['a busy', 100]] as const) {
    it(`is no more than 1 MiB for a loop that waits for the first message and then takes 20 ms for each, on ${machine} machine`, async () => {
      const { listener, dialed } = await stockLine(defer)
      const { outgoing, incoming } = await openStream(dialed, listener)
      const taken = new InOrder()
      const held = countHeld(incoming, taken)

      const others = setInterval(() => { spin(stall * Math.random()) }, 40)
      defer(async () => { clearInterval(others) })

      const reading = readSlowly(incoming, taken)
      const sending = sendNumbered(outgoing, 64 * MiB)

      expect(await mostIn(1_000, held)).to.be.at.most(MiB)
      expect(taken.bytes).to.be.above(0)
      incoming.abort(new Error('The test is over'))
      await Promise.allSettled([reading, sending.done])
    })

    it(`is no more than 1 MiB for a handler that takes 20 ms for each message, on ${machine} machine`, async () => {
      const { listener, dialed } = await stockLine(defer)
      const { promise, resolve } = Promise.withResolvers<Stream>()
      const taken = new InOrder()
      let held = (): number => 0

      await listener.handle(READ, async stream => {
        held = countHeld(stream, taken)
        resolve(stream)
        await readSlowly(stream, taken)
      })

      const others = setInterval(() => { spin(stall * Math.random()) }, 40)
      defer(async () => { clearInterval(others) })

      const sending = sendNumbered(await dialed.newStream(READ), 64 * MiB)
      const incoming = await promise
      const most = await mostIn(1_000, held)

      expect(taken.bytes).to.be.above(0)
      expect(most).to.be.at.most(MiB)
      incoming.abort(new Error('The test is over'))
      await sending.done.catch(() => {})
    })
  }
})
