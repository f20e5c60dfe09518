import { expect } from 'aegir/chai'
import { itIf } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { losses } from './fixtures/fin-census.ts'

const OFFICIAL = '@libp2p/tcp 11'
const DECORATED = 'all of ours'

/** `THOROUGH=true` opens 54,000 streams to ours in one process, and as many in two */
const STREAMS = isThorough ? 27_000 : 300

/** To official listeners it is less: the streams that they lose stay open */
const COMPARED = 6_000

const ROUNDS = 6

/** Lost streams of a connection use up libp2p's limit of 32 for a protocol, after which all others are lost with them */
const BELOW_LIMIT = 20

describe('handlers of streams whose dialer sends and closes at once, while peer stores take 0 to 7 turns', function () {
  this.timeout(30 * 60_000)

  for (const processes of isThorough ? ['one process', 'two processes'] as const : ['one process'] as const) {
    for (const dials of [OFFICIAL, DECORATED] as const) {
      it(`all end on a decorated listener that ${dials} dials, in ${processes}`, async () => {
        expect(await losses({ dials, listens: DECORATED, streams: STREAMS, processes })).to.equal(0)
      })
    }

    itIf(isThorough)(`end as often on an official listener that a decorated dialer dials as with an official one, in ${processes} (with THOROUGH=true)`, async () => {
      const compared = { listens: OFFICIAL, streams: COMPARED / ROUNDS, perConnection: BELOW_LIMIT, processes } as const
      let official = 0
      let ours = 0

      // in turn, since how many are lost depends on what else the machine does
      for (let round = 0; round < ROUNDS; round++) {
        official += await losses({ ...compared, dials: OFFICIAL })
        ours += await losses({ ...compared, dials: DECORATED })
      }

      // eslint-disable-next-line no-console
      console.info(`      of ${COMPARED}: official ${official} lost, ours ${ours}`)
      // Losses come in groups: in a round of 50 their number has a standard deviation of 8, and so the difference of
      // two times six rounds one of 27. A third is four of those
      expect(ours).to.be.at.most(official + COMPARED / 3)
    })
  }
})
