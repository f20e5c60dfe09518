import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, collect, payload } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { closed, until, untilStill } from '../fixtures/waiting.ts'
import { talking } from './fixtures/secured-pair.ts'
import type { SecuredPair } from './fixtures/secured-pair.ts'

describe('an encrypted connection that receives large messages', () => {
  const defer = cleanUpAfterEach()

  const LARGE = 64 * KiB
  const COUNT = 16

  /** What Noise adds to a message, in bytes */
  const LENGTH_AND_TAG = 2 + 16

  /** Small answers to large messages that arrive together; how many messages they take, and what arrives of them */
  async function acknowledge ({ dialer, listener }: SecuredPair, finish: () => void = () => {}): Promise<{ messages: number, bytes: number }> {
    const before = listener.encrypted()
    const answers = collect(dialer.stream)
    let left = COUNT * LARGE

    listener.stream.addEventListener('message', ({ data }) => {
      left -= data.byteLength
      listener.stream.send(payload(12))
    })

    for (let i = 0; i < COUNT; i++) {
      dialer.stream.send(payload(LARGE))
    }

    finish()
    await until(() => left === 0, 'all is read')
    await untilStill(() => answers.bytes)

    return { messages: listener.encrypted() - before, bytes: answers.bytes }
  }

  it('gathers its small answers until it has read what there is', async () => {
    const { messages, bytes } = await acknowledge(await talking(defer))

    expect(bytes).to.be.at.least(COUNT * 12)
    expect(messages).to.be.within(1, COUNT / 2)
  })

  it('gathers what answers the rest of each', async () => {
    const { dialer, listener } = await talking(defer)
    const frame = payload(LARGE + 12)
    let left = COUNT * frame.byteLength
    const before = listener.encrypted()

    listener.stream.addEventListener('message', ({ data }) => {
      left -= data.byteLength

      // as a muxer answers when it has the whole frame
      if (data.byteLength < KiB) {
        listener.stream.send(payload(12))
      }
    })

    for (let i = 0; i < COUNT; i++) {
      dialer.stream.send(frame)
      // a batch of its own, which leaves whole
      await Promise.resolve()
    }

    const sent = dialer.encrypted()
    await until(() => left === 0, 'all is read')
    await nextTurn()

    expect(sent).to.be.at.least(2 * COUNT)
    expect(listener.encrypted() - before).to.be.within(1, COUNT / 2)
  })

  it('answers before it acts on the FIN of the peer', async () => {
    const { dialer, listener } = await talking(defer)
    const end = closed(listener.raw)
    const before = listener.encrypted()
    let answers = 0
    let encrypted = 0

    listener.stream.addEventListener('message', () => {
      listener.stream.send(payload(12))
      answers++
    })
    listener.raw.addEventListener('remoteCloseWrite', () => { encrypted = listener.encrypted() - before })
    // a full read, behind which Node reads on at once, and FIN is there by then: nothing else comes in between
    await nextTurn()
    dialer.stream.send(payload(LARGE - LENGTH_AND_TAG))
    await dialer.raw.close()

    expect((await end).error).to.equal(undefined)
    expect(answers).to.be.at.least(1)
    expect(encrypted).to.be.at.least(1)
  })

  it('answers at once again after a small one', async () => {
    const pair = await talking(defer)
    await acknowledge(pair)
    const before = pair.listener.encrypted()
    const heard = pEvent(pair.listener.stream, 'message')

    pair.dialer.stream.send(payload(1))
    await heard
    expect(pair.listener.encrypted() - before).to.equal(1)
  })
})
