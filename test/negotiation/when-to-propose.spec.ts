import { expect } from 'aegir/chai'
import { isProposed, reasonFor } from '../../src/optimistic/when-to-propose.ts'
import type { Stream } from '@libp2p/interface'

const PROTOCOL = '/echo/1.0.0'

describe('when the protocol of a stream is proposed', () => {
  for (const negotiateFully of [undefined, true, false]) {
    for (const isKnown of [true, false]) {
      for (const isFull of [true, false]) {
        const isWanted = negotiateFully === false || (negotiateFully == null && isKnown)

        it(`${isWanted && !isFull ? 'is' : 'is not'} with negotiateFully ${negotiateFully}, of a peer that ${isKnown ? 'is' : 'is not'} known to speak it, ${isFull ? 'at' : 'below'} the limit`, () => {
          const reason = reasonFor({ protocol: PROTOCOL, negotiateFully, maxOutboundStreams: 1 }, {
            streams: isFull ? [{ direction: 'outbound', protocol: PROTOCOL } as unknown as Stream] : [],
            isKnown: protocol => isKnown && protocol === PROTOCOL,
            handlers: () => undefined
          })

          expect(isProposed(reason)).to.equal(isWanted && !isFull)
          expect(reason === 'limit').to.equal(isWanted && isFull)
        })
      }
    }
  }

  it('is not if the caller names several', () => {
    expect(reasonFor({ negotiateFully: false }, { streams: [], isKnown: () => true, handlers: () => undefined })).to.equal('several')
  })
})
