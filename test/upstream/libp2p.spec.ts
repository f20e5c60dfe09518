import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { notYet } from './not-yet.ts'
import { officialNode } from './official-node.ts'
import type { Ping } from '@libp2p/ping'

const PROTOCOL = '/test/upstream/1.0.0'

describe('libp2p (with THOROUGH=true)', function () {
  this.timeout(30_000)

  skipUnless(isThorough)

  const defer = cleanUpAfterEach()

  notYet('streams with a signal of their own cost no timer each', /timers.*to be below 20/, async () => {
    const listener = await officialNode(defer)
    const dialer = await officialNode(defer)
    await listener.handle(PROTOCOL, async stream => stream.close())
    const connection = await dialer.dial(listener.getMultiaddrs())
    const timeout = AbortSignal.timeout
    let timers = 0

    AbortSignal.timeout = ms => {
      timers++

      return timeout.call(AbortSignal, ms)
    }

    try {
      for (let i = 0; i < 20; i++) {
        await (await connection.newStream(PROTOCOL)).close()
      }
    } finally {
      AbortSignal.timeout = timeout
    }

    expect(timers, 'timers').to.be.below(20)
  })

  notYet('a ping of the application fares well beside those of the connection monitor', /pings that failed: expected \d+ to equal/, async () => {
    const services = { identify: identify(), ping: ping() }
    const listener = await officialNode(defer, { services })
    const dialer = await officialNode(defer, { services, connectionMonitor: { pingInterval: 5 } })
    const connection = await dialer.dial(listener.getMultiaddrs())
    const isAnswered = async (): Promise<boolean> => (dialer.services.ping as Ping).ping(connection.remotePeer).then(() => true, () => false)
    let failed = 0

    for (let i = 0; i < 200; i++) {
      failed += await isAnswered() ? 0 : 1
    }

    expect(failed, 'pings that failed').to.equal(0)
  })
})
