import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { logLines } from '../fixtures/log-lines.ts'
import { ECHO, EAGER, bareNode, echoNode, firstByte, stacks } from './fixtures/stacks.ts'
import type { NewStreamOptions } from '@libp2p/interface'

describe('the log of a stream', () => {
  const defer = cleanUpAfterEach()

  it('tells how its protocol was negotiated, and why', async () => {
    const { logger, lines } = logLines(defer)
    const listener = await echoNode(defer, '127.0.0.1', { logger })
    const dialer = await bareNode(defer, { ...stacks['all of ours'](), logger })
    const connection = await dialer.dial(listener.getMultiaddrs())

    const told: Array<[string | string[], NewStreamOptions, string]> = [
      [ECHO, {}, 'negotiate /test/echo/1.0.0 in full: the peer is not known to speak it'],
      [ECHO, {}, 'presume /test/echo/1.0.0: the peer is known to speak it'],
      [ECHO, EAGER, 'presume /test/echo/1.0.0: the caller vouches for it'],
      [ECHO, { negotiateFully: true }, 'negotiate /test/echo/1.0.0 in full: the caller wants it'],
      [ECHO, { maxOutboundStreams: 4 }, 'negotiate /test/echo/1.0.0 in full: one more stream may be too many for the peer'],
      [[ECHO, '/test/other/1.0.0'], {}, 'negotiate in full: there are several protocols']
    ]

    for (const [protocols, options, line] of told) {
      lines.length = 0
      // the fifth is one too many for libp2p too
      await connection.newStream(protocols, options).then(firstByte, () => {})
      expect(lines.some(logged => logged.includes(line))).to.equal(true, line)
    }
  })
})
