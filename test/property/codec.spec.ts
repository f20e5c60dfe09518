import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { Uint8ArrayList } from 'uint8arraylist'
import { decodeProposal, encodeProposal } from '../../src/optimistic/codec.ts'
import { check, chunked, seed } from './fixtures/check.ts'

const HEADER = encodeProposal('').subarray(0, 20)

const protocols = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
  fc.array(fc.stringMatching(/^[a-z0-9.-]{1,20}$/), { minLength: 1, maxLength: 40 }).map(parts => `/${parts.join('/')}`)
).filter(protocol => {
  return !protocol.includes('\n') &&
    !['na', 'ls', '/multistream/1.0.0'].includes(protocol) &&
    new TextEncoder().encode(protocol).byteLength < 1_024
})

describe(`properties of the codec (seed ${seed})`, () => {
  it('reads back every protocol that it writes, however it is cut', () => {
    check(fc.property(protocols.chain(protocol => fc.tuple(
      fc.constant(protocol),
      chunked(fc.constant(encodeProposal(protocol)))
    )), ([protocol, chunks]) => {
      expect(decodeProposal(new Uint8ArrayList(...chunks))).to.equal(protocol)
    }))
  })

  it('takes nothing for a proposal that it would not write itself', () => {
    const nearly = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.uint8Array({ maxLength: 64 }).map(rest => Uint8Array.from([...HEADER, ...rest])),
      fc.tuple(protocols, fc.uint8Array({ maxLength: 3 })).map(([protocol, rest]) => Uint8Array.from([...encodeProposal(protocol), ...rest])),
      fc.tuple(protocols, fc.nat(), fc.nat(255)).map(([protocol, at, value]) => {
        const bytes = encodeProposal(protocol)
        return bytes.with(at % bytes.byteLength, value)
      })
    )

    check(fc.property(nearly, bytes => {
      const protocol = decodeProposal(bytes)

      if (protocol != null) {
        expect(encodeProposal(protocol)).to.equalBytes(bytes)
        expect(protocol).to.not.include('\n')
        expect(['', 'na', 'ls', '/multistream/1.0.0']).to.not.include(protocol)
      }
    }))
  })
})
