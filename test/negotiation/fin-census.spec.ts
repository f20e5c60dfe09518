import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { losses } from './fixtures/fin-census.ts'

const OFFICIAL = '@libp2p/tcp 11'
const DECORATED = 'tcp() with both decorators'

/** `THOROUGH=true` opens 54,000 streams to ours in one process, and as many in two */
const STREAMS = isThorough ? 27_000 : 600

/** To official listeners it is less: the streams that they lose stay open */
const COMPARED = isThorough ? 6_000 : 300

describe('handlers of streams whose dialer sends and closes at once, while peer stores take 0 to 7 turns', function () {
  this.timeout(30 * 60_000)

  const defer = cleanUpAfterEach()

  for (const processes of ['one process', 'two processes'] as const) {
    for (const dials of [OFFICIAL, DECORATED] as const) {
      it(`all end on a decorated listener that ${dials} dials, in ${processes}`, async () => {
        expect(await losses(defer, { dials, listens: DECORATED, streams: STREAMS, processes })).to.equal(0)
      })
    }

    it(`end as often on an official listener that a decorated dialer dials as with an official one, in ${processes}`, async () => {
      const official = await losses(defer, { dials: OFFICIAL, listens: OFFICIAL, streams: COMPARED, processes })
      const ours = await losses(defer, { dials: DECORATED, listens: OFFICIAL, streams: COMPARED, processes })

      // eslint-disable-next-line no-console
      console.info(`      of ${COMPARED}: official ${official} lost, ours ${ours}`)
      // a margin for chance: two official runs differ as much
      expect(ours).to.be.at.most(official + Math.max(3, 3 * Math.sqrt(official)))
    })
  }
})
