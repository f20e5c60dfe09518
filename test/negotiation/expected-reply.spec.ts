import { expect } from 'aegir/chai'
import { ExpectedReply } from '../../src/optimistic/expected-reply.ts'
import { HEADER, NOISE, NOISE_ONLY, NA, counting, joined, message, substitutions } from './fixtures/proposals.ts'

describe('the reply that is expected', () => {
  function bytewise (bytes: Uint8Array): { reply: ExpectedReply, states: string[] } {
    const reply = new ExpectedReply(NOISE)
    const states = [...bytes].map(byte => {
      reply.receive(Uint8Array.of(byte))
      return reply.state
    })

    return { reply, states }
  }

  it('is awaited at first', () => {
    expect(new ExpectedReply(NOISE)).to.have.property('state', 'awaiting')
  })

  it('may be split at each of its places', () => {
    for (let at = 0; at <= NOISE.byteLength; at++) {
      const reply = new ExpectedReply(NOISE)

      expect(reply.receive(NOISE.subarray(0, at))).to.have.lengthOf(0)
      expect(reply.state).to.equal(at < NOISE.byteLength ? 'awaiting' : 'verified')

      expect(reply.receive(NOISE.subarray(at))).to.have.lengthOf(0)
      expect(reply.state, `split at ${at}`).to.equal('verified')
    }
  })

  it('may come one byte at a time', () => {
    const { states } = bytewise(NOISE)

    expect(states.slice(0, -1).every(state => state === 'awaiting')).to.be.true()
    expect(states.at(-1)).to.equal('verified')
  })

  it('is another one if any byte is another one, from that byte on and for good', () => {
    let cases = 0

    for (const { at, value, bytes } of substitutions(NOISE)) {
      const whole = new ExpectedReply(NOISE)
      const rest = whole.receive(bytes)

      expect(whole.state, `${value} at ${at}`).to.equal('refused')
      expect(rest).to.equalBytes(bytes.subarray(at))

      const { reply, states } = bytewise(bytes)

      expect(states.indexOf('refused'), `${value} at ${at}, one at a time`).to.equal(at)

      reply.receive(NOISE)
      expect(reply.state).to.equal('refused')
      cases++
    }

    expect(cases).to.equal(28 * 255)
  })

  it('gives every byte behind it to the reader', () => {
    for (let length = 0; length <= 64; length++) {
      const tail = counting(length)

      for (const at of [0, 1, 19, 20, 27, 28]) {
        const reply = new ExpectedReply(NOISE)
        const first = reply.receive(NOISE.subarray(0, at))
        const rest = reply.receive(joined(NOISE.subarray(at), tail))

        expect(joined(first, rest)).to.equalBytes(tail)
        expect(reply.state).to.equal('verified')
      }
    }
  })

  it('gives everything that comes later to the reader too, even what looks like the reply', () => {
    const reply = new ExpectedReply(NOISE)
    reply.receive(NOISE)

    expect(reply.receive(NOISE)).to.equalBytes(NOISE)
    expect(reply.receive(NA)).to.equalBytes(NA)
    expect(reply.state).to.equal('verified')
  })

  it('never comes if the peer ends before it is whole', () => {
    for (let length = 0; length < NOISE.byteLength; length++) {
      const reply = new ExpectedReply(NOISE)

      reply.receive(NOISE.subarray(0, length))
      expect(reply.state).to.equal('awaiting')

      reply.end()
      expect(reply.state, `after ${length} bytes`).to.equal('refused')
    }
  })

  it('has come if the peer ends behind it', () => {
    const reply = new ExpectedReply(NOISE)
    reply.receive(NOISE)
    reply.end()

    expect(reply.state).to.equal('verified')
  })

  const refusals: Record<string, Uint8Array> = {
    na: NA,
    'na without the header': message('na'),
    'the header twice': joined(HEADER, HEADER, NOISE_ONLY),
    'the protocol without the header': NOISE_ONLY,
    'a length in more bytes than it needs': joined(HEADER, message('/noise', 2)),
    'a header with a length in more bytes than it needs': joined(message('/multistream/1.0.0', 2), NOISE_ONLY),
    'an empty message before the protocol': joined(HEADER, Uint8Array.of(0), NOISE_ONLY),
    'the protocol with its newline left out': joined(HEADER, Uint8Array.of(6), NOISE.subarray(-7, -1), counting(8))
  }

  for (const [name, bytes] of Object.entries(refusals)) {
    it(`is not ${name}`, () => {
      const reply = new ExpectedReply(NOISE)
      reply.receive(bytes)
      expect(reply.state).to.equal('refused')

      expect(bytewise(bytes).states).to.include('refused')
    })
  }

  it('is not awaited any more by an empty chunk, nor refused by it', () => {
    const reply = new ExpectedReply(NOISE)

    for (const byte of NOISE) {
      expect(reply.receive(new Uint8Array())).to.have.lengthOf(0)
      expect(reply.state).to.equal('awaiting')
      reply.receive(Uint8Array.of(byte))
    }

    expect(reply.state).to.equal('verified')
  })
})
