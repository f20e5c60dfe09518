import { expect } from 'aegir/chai'
import { patienceUntil } from '../../../src/dial/patience.ts'

/** How long a connect took, whether the peer has spoken, and how long after the beginning of the attempt the upgrade counts as slow: all in ms, the delay is 250 */
const ROWS: Array<[took: number, hasAnswered: boolean, until: number]> = [
  [1, false, 250],
  [82, false, 250],
  [200, false, 600],
  [900, false, 1_900],
  [1, true, 1_000],
  [82, true, 1_000],
  [200, true, 2_000],
  [900, true, 2_900]
]

describe('the patience with an upgrade', () => {
  for (const [took, hasAnswered, until] of ROWS) {
    it(`ends ${until} ms after the beginning if the connect took ${took} ms and the peer has said ${hasAnswered ? 'something' : 'nothing'}`, () => {
      expect(patienceUntil({ since: 10_000, connectedAt: 10_000 + took, hasAnswered }, 250)).to.equal(10_000 + until)
    })
  }
})
