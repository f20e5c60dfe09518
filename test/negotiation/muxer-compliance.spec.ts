import tests from '@libp2p/interface-compliance-tests/stream-muxer'
import { optimistic } from '../../src/index.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { muxerComponents, muxers } from './fixtures/muxers.ts'

/** It opens 1,000 streams with 100 messages each */
for (const [name, factory] of Object.entries(muxers).slice(0, isThorough ? 3 : 1)) {
  describe(`stream muxer compliance of optimistic(${name})`, () => {
    tests({
      setup: async () => optimistic(factory)(muxerComponents()),
      teardown: async () => {}
    })
  })
}
