import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { DialProposal } from '../../src/optimistic/dial-proposal.ts'
import { ExpectedReply } from '../../src/optimistic/expected-reply.ts'
import { list } from '../negotiation/fixtures/proposals.ts'
import { check, chunked, seed } from './fixtures/check.ts'
import { EXPECTED, compare, replies } from './fixtures/replies.ts'

describe(`properties of the expected reply (seed ${seed})`, () => {
  it('comes to the same state and the same rest after every chunk, wherever the bytes are split', () => {
    check(fc.property(chunked(replies), chunks => {
      const reply = new ExpectedReply(EXPECTED)
      const rest: number[] = []
      const received: number[] = []

      for (const chunk of chunks) {
        const forReader = reply.receive(chunk)
        received.push(...chunk)

        if (reply.state === 'verified') {
          rest.push(...forReader)
        } else if (reply.state === 'awaiting') {
          expect(forReader).to.have.lengthOf(0)
        }

        expect({ state: reply.state, rest }).to.deep.equal(compare(Uint8Array.from(received)))
      }

      const before = reply.state
      reply.end()
      expect(reply.state).to.equal(before === 'awaiting' ? 'refused' : before)
    }))
  })

  it('gives the reader of a connection what the model says and throws where the model refuses', () => {
    check(fc.property(chunked(replies), fc.boolean(), (chunks, ends) => {
      const negotiation = new DialProposal()
      expect(negotiation.onSend(list(EXPECTED))).to.equalBytes(EXPECTED)

      const expected = compare(Uint8Array.from(chunks.flatMap(chunk => [...chunk])))
      const rest: number[] = []
      let error: any

      try {
        chunks.forEach(chunk => { rest.push(...negotiation.onReceive(chunk)) })

        if (ends) {
          negotiation.onEnd()
        }
      } catch (err) {
        error = err
      }

      const state = ends && expected.state === 'awaiting' ? 'refused' : expected.state

      expect(negotiation.state).to.equal(state)
      expect(negotiation.done).to.equal(state !== 'awaiting')
      expect(error?.name).to.equal(state === 'refused' ? 'UnsupportedProtocolError' : undefined)
      expect(rest).to.deep.equal(expected.rest)
    }))
  })

  it('never holds on to what a peer sends before it is wrong', () => {
    check(fc.property(fc.nat(EXPECTED.byteLength - 1), fc.uint8Array({ minLength: 1, maxLength: 64 }), (right, flood) => {
      fc.pre(flood[0] !== EXPECTED[right])

      const reply = new ExpectedReply(EXPECTED)
      reply.receive(EXPECTED.subarray(0, right))

      expect(reply.receive(flood)).to.have.lengthOf(flood.byteLength)
      expect(reply.state).to.equal('refused')
    }))
  })
})
