import { expect } from 'aegir/chai'
import { DialProposal } from '../../src/optimistic/dial-proposal.ts'
import { HEADER, NOISE, NOISE_ONLY, NA, PLAINTEXT, TLS, counting, joined, list, message, substitutions } from './fixtures/proposals.ts'

describe('optimistic negotiation, without a socket', () => {
  function proposed (proposal = NOISE): DialProposal {
    const negotiation = new DialProposal()
    negotiation.onSend(list(proposal))

    return negotiation
  }

  for (const proposal of [NOISE, TLS]) {
    it(`answers a proposal of ${proposal.byteLength} bytes with the same bytes, once`, () => {
      const negotiation = new DialProposal()

      expect(negotiation.onSend(list(proposal))).to.equalBytes(proposal)
      expect(negotiation).to.include({ state: 'awaiting', done: false })

      expect(negotiation.onSend(list(proposal))).to.be.undefined()
      expect(negotiation.onSend(list(counting(40)))).to.be.undefined()
      expect(negotiation.state).to.equal('awaiting')
    })
  }

  it('answers a proposal that was written in pieces within one send', () => {
    const negotiation = new DialProposal()

    expect(negotiation.onSend(list(HEADER, NOISE_ONLY))).to.equalBytes(NOISE)
    expect(negotiation.protocol).to.equal('/noise')
  })

  it('tells what was proposed', () => {
    expect(proposed(TLS).protocol).to.equal('/tls/1.0.0')
    expect(new DialProposal().protocol).to.be.undefined()
  })

  const passing: Record<string, Uint8Array> = {
    plaintext: PLAINTEXT,
    'a nonce': Uint8Array.from({ length: 24 }, (_, i) => i * 10),
    ls: joined(HEADER, message('ls')),
    na: NA,
    'two proposals': joined(NOISE, message('/tls/1.0.0')),
    'the header alone': HEADER,
    'a length in more bytes than it needs': joined(HEADER, message('/noise', 2)),
    'a name that is too long': joined(HEADER, message('p'.repeat(1_024)))
  }

  for (const [name, first] of Object.entries(passing)) {
    it(`lets everything pass for good if the first thing sent is ${name}`, () => {
      const negotiation = new DialProposal()

      expect(negotiation.onSend(list(first))).to.be.undefined()
      expect(negotiation).to.include({ state: 'passing', done: true })

      expect(negotiation.onSend(list(NOISE))).to.be.undefined()
      expect(negotiation.onReceive(NA)).to.equalBytes(NA)
      negotiation.onEnd()
      expect(negotiation.state).to.equal('passing')
    })
  }

  it('lets everything pass for good if the peer speaks first', () => {
    const negotiation = new DialProposal()

    expect(negotiation.onReceive(NOISE)).to.equalBytes(NOISE)
    expect(negotiation).to.include({ state: 'passing', done: true })
    expect(negotiation.onSend(list(NOISE))).to.be.undefined()
    expect(negotiation.onReceive(NA)).to.equalBytes(NA)
  })

  it('is not refused by a peer that closes before anything was proposed', () => {
    const negotiation = new DialProposal()
    negotiation.onEnd()

    expect(negotiation.state).to.equal('passing')
  })

  it('takes the reply out wherever it is split, and nothing behind it', () => {
    for (let at = 0; at <= NOISE.byteLength; at++) {
      for (const length of [0, 1, 2, 64]) {
        const negotiation = proposed()
        const tail = counting(length)

        expect(negotiation.onReceive(NOISE.subarray(0, at))).to.have.lengthOf(0)
        expect(negotiation.onReceive(joined(NOISE.subarray(at), tail))).to.equalBytes(tail)
        expect(negotiation).to.include({ state: 'verified', done: true })
        expect(negotiation.onReceive(NOISE)).to.equalBytes(NOISE)
      }
    }
  })

  it('takes the reply out one byte at a time', () => {
    const negotiation = proposed()

    for (const byte of NOISE) {
      expect(negotiation.done).to.be.false()
      expect(negotiation.onReceive(Uint8Array.of(byte))).to.have.lengthOf(0)
    }

    expect(negotiation.state).to.equal('verified')
  })

  it('is refused by any other byte in any place', () => {
    let cases = 0

    for (const { at, value, bytes } of substitutions(NOISE)) {
      const negotiation = proposed()

      expect(() => negotiation.onReceive(bytes), `${value} at ${at}`).to.throw()
        .with.property('name', 'UnsupportedProtocolError')
      expect(negotiation).to.include({ state: 'refused', done: true })
      cases++
    }

    expect(cases).to.equal(7_140)
  })

  it('is refused by na before the whole of it has come', () => {
    const negotiation = proposed()
    negotiation.onReceive(HEADER)

    expect(() => negotiation.onReceive(Uint8Array.of(3))).to.throw().with.property('name', 'UnsupportedProtocolError')
    expect(negotiation.state).to.equal('refused')
  })

  it('is refused by a peer that closes after any part of the reply', () => {
    for (let length = 0; length < NOISE.byteLength; length++) {
      const negotiation = proposed()
      negotiation.onReceive(NOISE.subarray(0, length))

      expect(() => { negotiation.onEnd() }, `${length} bytes`).to.throw().with.property('name', 'UnsupportedProtocolError')
      expect(negotiation.state).to.equal('refused')
    }
  })

  it('is not refused by a peer that closes behind the reply', () => {
    const negotiation = proposed()
    negotiation.onReceive(NOISE)
    negotiation.onEnd()

    expect(negotiation.state).to.equal('verified')
  })

  it('stays refused', () => {
    const negotiation = proposed()

    expect(() => negotiation.onReceive(NA)).to.throw()
    expect(() => negotiation.onReceive(NOISE)).to.throw()
    expect(negotiation.state).to.equal('refused')
  })
})
