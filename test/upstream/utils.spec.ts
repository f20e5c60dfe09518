import { defaultLogger } from '@libp2p/logger'
import { AbstractMessageStream, LengthPrefixedDecoder } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { notYet } from './not-yet.ts'
import type { SendResult } from '@libp2p/utils'

/** Takes everything, and says that it should be the last for now */
class FullStream extends AbstractMessageStream {
  sendData (data: { byteLength: number }): SendResult {
    return { sentBytes: data.byteLength, canSendMore: false }
  }

  async close (): Promise<void> {}
  async sendCloseWrite (): Promise<void> {}
  async sendCloseRead (): Promise<void> {}
  sendReset (): void {}
  sendPause (): void {}
  sendResume (): void {}
}

describe('@libp2p/utils', () => {
  notYet('onDrain() waits every time, not only the first', /the second wait: expected true to equal false/, async () => {
    const stream = new FullStream({ log: defaultLogger().forComponent('test'), maxReadBufferLength: 1_024 })
    const hasResolved = async (drained: Promise<void>): Promise<boolean> => Promise.race([drained.then(() => true), new Promise<boolean>(resolve => { setImmediate(() => { resolve(false) }) })])

    stream.send(Uint8Array.of(1))
    const first = stream.onDrain()
    stream.safeDispatchEvent('drain')
    await first

    stream.send(Uint8Array.of(2))
    expect(await hasResolved(stream.onDrain()), 'the second wait').to.equal(false)
  })

  notYet('a decoder of messages asks for no length before its bytes are there', /RangeErrors: expected 1 to equal/, async () => {
    let errors = 0
    const lengthDecoder = Object.assign((data: { length: number }): number => {
      if (data.length < 2) {
        errors++
        throw new RangeError('Too short')
      }

      return 10
    }, { bytes: 2 })
    const decoder = new LengthPrefixedDecoder({ lengthDecoder: lengthDecoder as any })

    expect([...decoder.decode(Uint8Array.of(0))], 'messages').to.be.empty()
    expect(errors, 'RangeErrors').to.equal(0)
  })
})
