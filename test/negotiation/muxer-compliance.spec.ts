import tests from '@libp2p/interface-compliance-tests/stream-muxer'
import { optimistic } from '../../src/index.ts'
import { muxerComponents, muxers } from './fixtures/muxers.ts'

for (const [name, factory] of Object.entries(muxers)) {
  describe(`stream muxer compliance of optimistic(${name})`, () => {
    tests({
      setup: async () => optimistic(factory)(muxerComponents()),
      teardown: async () => {}
    })
  })
}
