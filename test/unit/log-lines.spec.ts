import { enabled } from '@libp2p/logger'
import { expect } from 'aegir/chai'
import { logLines } from '../fixtures/log-lines.ts'

describe('the lines of a log that a test keeps', () => {
  it('are kept no longer than the test runs', () => {
    const { DEBUG } = process.env
    const wasEnabled = enabled('libp2p:tcp')
    const cleanups: Array<() => unknown> = []
    const { lines, logger } = logLines(cleanup => { cleanups.push(cleanup) })
    const log = logger.forComponent('libp2p:tcp')

    log('kept')
    cleanups.forEach(cleanup => { cleanup() })
    log('after the test')

    expect(lines).to.have.lengthOf(wasEnabled ? 2 : 1)
    expect(enabled('libp2p:tcp')).to.equal(wasEnabled)
    expect(process.env.DEBUG).to.equal(DEBUG)
  })
})
