import { noise } from '@libp2p/noise'
import { plaintext } from '@libp2p/plaintext'
import { tls } from '@libp2p/tls'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { optimistic } from '../../src/index.ts'
import { KiB, MiB, chunks, collect, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { closed, until, untilStill } from '../fixtures/waiting.ts'
import { securedPair, talking } from './fixtures/secured-pair.ts'
import type { SecuredPair } from './fixtures/secured-pair.ts'

const MESSAGE_BYTES = 16 * KiB

describe('an encrypted connection', () => {
  const defer = cleanUpAfterEach()

  /** How many messages `send` makes of it, all arriving in order */
  async function messagesOf ({ dialer, listener }: SecuredPair, sends: Array<Uint8Array | Uint8ArrayList>): Promise<number> {
    const expected = new Uint8ArrayList(...sends).subarray()
    const before = dialer.encrypted()
    const received = collect(listener.stream)

    sends.forEach(data => { dialer.stream.send(data) })
    await untilStill(() => received.bytes)
    expect(received.result()).to.deep.equal(tally(expected))

    return dialer.encrypted() - before
  }

  const times = (count: number, bytes: number): Uint8Array[] => Array.from({ length: count }, () => payload(bytes))

  it('encrypts what is sent with no await between as one message', async () => {
    expect(await messagesOf(await talking(defer), times(15, 1_036))).to.equal(1)
  })

  it('takes lists of buffers for what is in them', async () => {
    expect(await messagesOf(await talking(defer), [
      new Uint8ArrayList(payload(12), payload(500)),
      new Uint8ArrayList(),
      new Uint8ArrayList(payload(12), new Uint8Array(0), payload(7))
    ])).to.equal(1)
  })

  it('makes no message longer than 16 KiB', async () => {
    // 4 fit; the first message may find less memory left
    expect(5 * 4_095).to.be.greaterThan(MESSAGE_BYTES)
    expect(await messagesOf(await talking(defer), times(40, 4_095))).to.be.within(10, 11)
  })

  it('encrypts large buffers as they are, and keeps the order', async () => {
    expect(await messagesOf(await talking(defer), [payload(10), payload(4 * KiB), payload(10), payload(10), payload(200 * KiB), payload(10)]))
      .to.equal(1 + 1 + 1 + 4 + 1)
  })

  it('waits with nothing before the peer was heard', async () => {
    expect(await messagesOf(await securedPair(defer), times(5, 100))).to.equal(5)
  })

  it('answers at once, and gathers the rest of the answer', async () => {
    const { dialer, listener } = await talking(defer)
    const received = collect(dialer.stream)

    listener.stream.addEventListener('message', () => {
      const before = listener.encrypted()
      times(10, 100).forEach((data, i) => {
        listener.stream.send(data)
        expect(listener.encrypted() - before, `after send ${i}`).to.equal(1)
      })
      queueMicrotask(() => {
        expect(listener.encrypted() - before).to.equal(2)
      })
    })

    dialer.stream.send(Uint8Array.of(1))
    await until(() => received.bytes === 1_000, 'the answer has come')
  })

  it('sends before whatever is awaited after `send`', async () => {
    const { dialer } = await talking(defer)
    const before = dialer.encrypted()

    dialer.stream.send(payload(100))
    expect(dialer.encrypted() - before).to.equal(0)
    await Promise.resolve()
    expect(dialer.encrypted() - before).to.equal(1)
  })

  it('leaves a buffer alone once `send` has returned', async () => {
    const { dialer, listener } = await talking(defer)
    const received = collect(listener.stream)
    const data = payload(1_000)
    const expected = tally(data)

    dialer.stream.send(data)
    data.fill(0)
    await until(() => received.bytes === 1_000, 'everything has arrived')
    expect(received.result()).to.deep.equal(expected)
  })

  it('does not mix what two connections send in turns', async () => {
    const pairs = [await talking(defer), await talking(defer)]
    const received = pairs.map(({ listener }) => collect(listener.stream))
    const sent = pairs.map(() => times(100, 777))

    sent[0].forEach((_, i) => {
      pairs.forEach(({ dialer }, which) => { dialer.stream.send(sent[which][i]) })
    })

    await until(() => received.every(({ bytes }) => bytes === 77_700), 'everything has arrived')
    received.forEach((tallier, which) => {
      expect(tallier.result()).to.deep.equal(tally(new Uint8ArrayList(...sent[which]).subarray()))
    })
  })

  it('keeps what comes before anybody listens', async () => {
    const { dialer, listener } = await securedPair(defer)
    const data = payload(10_000)

    dialer.stream.send(data)
    await until(() => listener.stream.readBufferLength === 10_000, 'everything has arrived')

    const received = collect(listener.stream)
    await until(() => received.bytes > 0, 'somebody listens')
    expect(received.result()).to.deep.equal(tally(data))
  })

  it('pushes back, and loses nothing', async () => {
    const { dialer, listener } = await talking(defer)
    const data = payload(16 * MiB)

    listener.stream.pause()

    const sent = (async () => {
      for (const chunk of chunks(data, 1_000)) {
        if (!dialer.stream.send(chunk)) {
          // this can be waited for once only: dialer.stream.onDrain()
          await pEvent(dialer.stream, 'drain')
        }

        expect(dialer.stream.writeBufferLength).to.be.at.most(MESSAGE_BYTES)
      }
    })()
    await until(() => dialer.stream.writableNeedsDrain, 'the pipe is full')

    const received = collect(listener.stream)
    listener.stream.resume()
    await sent
    await until(() => received.bytes === data.byteLength, 'everything has arrived', 20_000)
    expect(received.result()).to.deep.equal(tally(data))
  }).timeout(30_000)

  it('keeps the order where sending makes others send', async () => {
    const pair = await talking(defer)
    const { dialer: { stream }, listener } = pair
    const received = collect(listener.stream)
    const [header, body, answer] = [payload(12), payload(4_000), payload(50)]
    const sent = [...times(4, 4_000), header, body, answer]

    stream.addEventListener('idle', () => { stream.send(answer) }, { once: true })
    sent.slice(0, 4).forEach(data => { stream.send(data) })
    // one of the two makes a message full
    stream.send(new Uint8ArrayList(header, body))
    await untilStill(() => received.bytes)
    expect(received.result()).to.deep.equal(tally(new Uint8ArrayList(...sent).subarray()))
  })

  for (const [how, close] of Object.entries<(pair: SecuredPair) => Promise<void>>({
    'it is closed in the same go': async ({ dialer }) => dialer.stream.close(),
    'the connection below is closed in the same go': async ({ dialer }) => dialer.raw.close(),
    'the connection below is closed after something was awaited': async ({ dialer }) => {
      await Promise.resolve()
      await dialer.raw.close()
    }
  })) {
    it(`sends everything where ${how}`, async () => {
      const pair = await talking(defer)
      const received = collect(pair.listener.stream)
      const end = closed(pair.listener.raw)
      const sent = times(10, 1_000)

      sent.forEach(data => { pair.dialer.stream.send(data) })
      await close(pair)
      expect((await end).error).to.equal(undefined)
      expect(received.result()).to.deep.equal(tally(new Uint8ArrayList(...sent).subarray()))
    })
  }

  for (const [when, schedule] of Object.entries<(answer: () => void) => void>({
    'at once': answer => { answer() },
    'after it has awaited something': answer => { queueMicrotask(answer) }
  })) {
    it(`answers the FIN of the peer ${when}`, async () => {
      const { dialer, listener } = await talking(defer)
      const end = closed(listener.raw)
      const before = listener.encrypted()

      listener.stream.addEventListener('remoteCloseWrite', () => {
        schedule(() => { times(3, 100).forEach(data => { listener.stream.send(data) }) })
      })
      // who closes is not told what comes then
      await dialer.raw.close()

      expect((await end).error).to.equal(undefined)
      expect(listener.encrypted() - before).to.be.greaterThan(0)
    })
  }

  it('refuses to send once it is closed', async () => {
    const { dialer } = await talking(defer)
    const closing = dialer.stream.close()

    expect(() => dialer.stream.send(payload(1))).to.throw().with.property('name', 'StreamStateError')
    await closing.catch(() => {})
  })

  it('sends nothing after it was aborted', async () => {
    const { dialer } = await talking(defer)
    const before = dialer.encrypted()

    dialer.stream.send(payload(100))
    dialer.stream.abort(new Error('Urk!'))
    await Promise.resolve()
    expect(dialer.encrypted() - before).to.equal(0)
    expect(() => dialer.stream.send(payload(1))).to.throw().with.property('name', 'StreamStateError')
  })

  for (const [name, factory] of Object.entries({ TLS: tls(), plaintext: plaintext() })) {
    it(`is left as it is over ${name}`, async () => {
      const pair = await talking(defer, factory)

      expect(Object.hasOwn(pair.dialer.stream, 'send')).to.equal(false)
      expect(await messagesOf(pair, [...times(100, 1_000), payload(100_000), ...times(100, 10)])).to.equal(0)
    })
  }

  it('does so once where the encrypter is decorated twice', async () => {
    const pair = await talking(defer, components => optimistic(noise())(components))

    expect(await messagesOf(pair, times(10, 100))).to.equal(1)
  })
})
