import { expect } from 'aegir/chai'
import { DialProposal } from '../../src/optimistic/dial-proposal.ts'
import { HEADER, NOISE, NOISE_ONLY, NA, PLAINTEXT, TLS, counting, joined, list, message } from './fixtures/proposals.ts'

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
    na: NA,
    'two proposals': joined(NOISE, message('/tls/1.0.0'))
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

  it('stays refused', () => {
    const negotiation = proposed()

    expect(() => negotiation.onReceive(NA)).to.throw()
    expect(() => negotiation.onReceive(NOISE)).to.throw()
    expect(negotiation.state).to.equal('refused')
  })
})
