import { expect } from 'aegir/chai'
import { Uint8ArrayList } from 'uint8arraylist'
import { decodeProposal, encodeProposal } from '../../src/optimistic/codec.ts'
import { HEADER, NOISE, NOISE_ONLY, NA, PLAINTEXT, TLS, joined, message } from './fixtures/proposals.ts'

describe('what counts as a proposal', () => {
  it('is written as multistream-select writes it', () => {
    expect(encodeProposal('/noise')).to.equalBytes(NOISE)
    expect(encodeProposal('/tls/1.0.0')).to.equalBytes(TLS)
    expect(NOISE).to.have.lengthOf(28)
  })

  it('is a header and one protocol', () => {
    expect(decodeProposal(NOISE)).to.equal('/noise')
    expect(decodeProposal(TLS)).to.equal('/tls/1.0.0')
    expect(decodeProposal(PLAINTEXT)).to.equal('/plaintext/2.0.0')
  })

  it('may come in several pieces, cut anywhere', () => {
    for (let at = 0; at <= NOISE.byteLength; at++) {
      expect(decodeProposal(new Uint8ArrayList(NOISE.subarray(0, at), NOISE.subarray(at)))).to.equal('/noise')
    }

    expect(decodeProposal(new Uint8ArrayList(...[...NOISE].map(byte => Uint8Array.of(byte))))).to.equal('/noise')
  })

  it('may name a protocol with more than ASCII', () => {
    expect(decodeProposal(encodeProposal('/größe/✓/1.0.0'))).to.equal('/größe/✓/1.0.0')
  })

  for (const bytes of [1, 126, 127, 128, 1_022, 1_023]) {
    it(`may name a protocol of ${bytes} bytes`, () => {
      const protocol = 'p'.repeat(bytes)

      expect(encodeProposal(protocol)).to.equalBytes(joined(HEADER, message(protocol)))
      expect(decodeProposal(joined(HEADER, message(protocol)))).to.equal(protocol)
    })
  }

  const others: Record<string, Uint8Array> = {
    nothing: new Uint8Array(),
    'the nonce of a private network': Uint8Array.from({ length: 24 }, (_, i) => 255 - i),
    'the header alone': HEADER,
    'a protocol without the header': NOISE_ONLY,
    'na, a refusal': NA,
    'ls, a question': joined(HEADER, message('ls')),
    'the header twice': joined(HEADER, HEADER),
    'the header twice and a protocol': joined(HEADER, HEADER, NOISE_ONLY),
    'two proposals': joined(NOISE, message('/tls/1.0.0')),
    'two proposals in one message': joined(HEADER, message('/noise\n/tls/1.0.0')),
    'a proposal with more behind it': joined(NOISE, Uint8Array.of(0)),
    'an empty protocol': joined(HEADER, message('')),
    'a message of no bytes': joined(HEADER, Uint8Array.of(0)),
    'a protocol of 1,024 bytes, which multistream-select does not take': joined(HEADER, message('p'.repeat(1_024))),
    'a protocol of 100,000 bytes': joined(HEADER, message('p'.repeat(100_000))),
    'a length in more bytes than it needs': joined(HEADER, message('/noise', 2)),
    'a length of three bytes': joined(HEADER, message('/noise', 3)),
    'a header with a length in more bytes than it needs': joined(message('/multistream/1.0.0', 2), NOISE_ONLY),
    'another version of multistream-select': joined(message('/multistream/2.0.0'), NOISE_ONLY),
    'a carriage return before the newline of the header': joined(message('/multistream/1.0.0\r'), NOISE_ONLY),
    'a protocol that is no UTF-8': joined(HEADER, Uint8Array.of(4, 0xff, 0xfe, 0x80, 10)),
    'a TLS ClientHello': Uint8Array.of(0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03),
    'an HTTP request': new TextEncoder().encode('GET /multistream/1.0.0 HTTP/1.1\r\n\r\n')
  }

  for (const [name, bytes] of Object.entries(others)) {
    it(`is not ${name}`, () => {
      expect(decodeProposal(bytes)).to.be.undefined()
      expect(decodeProposal(new Uint8ArrayList(bytes))).to.be.undefined()
    })
  }
})
