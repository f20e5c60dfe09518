import tests from '@libp2p/interface-compliance-tests/stream-muxer'
import { yamux } from '../../src/index.ts'
import { isThorough } from '../fixtures/thorough.ts'

describe('muxer compliance', function () {
  this.timeout(60_000)

  tests({
    async setup () {
      return yamux()()
    },
    async teardown () {}
  })

  const slow = isThorough ? [] : ['1000 stream(s) with 100 msg(s)', 'should abort close due to timeout with slow sender']

  // it expects two messages. Both have come before its loop begins, and so are one
  this.eachTest(test => { test.pending ||= [...slow, 'can close a stream for writing'].includes(test.title) })
})
