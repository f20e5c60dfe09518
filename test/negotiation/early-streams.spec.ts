import { setTimeout as delay } from 'node:timers/promises'
import { identify } from '@libp2p/identify'
import { mplex } from '@libp2p/mplex'
import { tls } from '@libp2p/tls'
import { expect } from 'aegir/chai'
import { yamux } from '../../src/index.ts'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until } from '../fixtures/waiting.ts'
import { ECHO, bareNode, echo, firstByte, stacks } from './fixtures/stacks.ts'
import type { StackName } from './fixtures/stacks.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { Libp2p } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

const OFFICIAL = '@libp2p/tcp 11'
const PLAIN = 'tcp() alone'
const DECORATED = 'all of ours'
const LIMITS = { maxInboundStreams: 2_000, maxOutboundStreams: 2_000 }

/** libp2p's listener takes ten streams until it is ready. The official dialer fails with hundreds, so it is not the measure here */
const PAIRS: Array<[StackName, StackName]> = [
  [PLAIN, OFFICIAL],
  [PLAIN, PLAIN],
  [PLAIN, DECORATED],
  [DECORATED, OFFICIAL],
  [DECORATED, PLAIN],
  [DECORATED, DECORATED],
  [OFFICIAL, DECORATED]
]

describe('streams that are opened right after a dial', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()
  const itAtOnce = testsAtOnce()

  async function pair (defer: Defer, dialer: StackName, listener: StackName, options: Libp2pOptions = {}, dialerOptions: Libp2pOptions = {}): Promise<{ dialer: Libp2p, listener: Libp2p }> {
    const nodes = {
      listener: await bareNode(defer, { ...stacks[listener](), addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }, ...options }),
      dialer: await bareNode(defer, { ...stacks[dialer](), ...dialerOptions })
    }

    await nodes.listener.handle(ECHO, echo, LIMITS)
    await nodes.dialer.handle(ECHO, echo, LIMITS)

    return nodes
  }

  for (const [from, to] of PAIRS) {
    for (const count of isThorough || (from === DECORATED && to === OFFICIAL) ? [11, 50, 200, 1_000] : [11, 200]) {
      for (const negotiateFully of isThorough || count === 200 ? [undefined, false] : [undefined]) {
        it(`from ${from} to ${to}: ${count} echo${negotiateFully === false ? ', opted in' : ''}`, async () => {
          const { dialer, listener } = await pair(defer, from, to)
          const connection = await dialer.dial(listener.getMultiaddrs())
          const bytes = await Promise.all(Array.from({ length: count }, async () => {
            return firstByte(await connection.newStream(ECHO, { negotiateFully }))
          }))

          expect(bytes).to.deep.equal(new Array(count).fill(42))
        })
      }
    }
  }

  for (const from of [PLAIN, DECORATED] as const) {
    it(`from ${from}: all echo where a connection gater of the listener takes its time`, async () => {
      const { dialer, listener } = await pair(defer, from, OFFICIAL, {
        connectionGater: { denyInboundUpgradedConnection: async () => delay(200, false) }
      })
      const connection = await dialer.dial(listener.getMultiaddrs())
      const bytes = await Promise.all(Array.from({ length: 50 }, async () => firstByte(await connection.newStream(ECHO, { negotiateFully: false }))))

      expect(bytes).to.deep.equal(new Array(50).fill(42))
    })

    // with the stock muxer TLS may bring eleven streams in one message
    it(`from ${from}: all echo over ${from === PLAIN ? 'mplex' : 'TLS'}, where a connection gater of the listener takes its time`, async () => {
      // its own limit resets more than five streams a second
      const options: Libp2pOptions = from === PLAIN ? { streamMuxers: [mplex({ disconnectThreshold: Infinity })] } : { connectionEncrypters: [tls()] }
      const { dialer, listener } = await pair(defer, from, OFFICIAL, {
        ...options,
        connectionGater: { denyInboundUpgradedConnection: async () => delay(100, false) }
      }, options)
      const connection = await dialer.dial(listener.getMultiaddrs())
      const bytes = await Promise.all(Array.from({ length: 50 }, async () => firstByte(await connection.newStream(ECHO, { negotiateFully: false }))))

      expect(bytes).to.deep.equal(new Array(50).fill(42))
    })

    it(`from ${from}: all echo beside identify, where a 'connection:open' handler opens them`, async () => {
      const { listener } = await pair(defer, from, OFFICIAL)
      const dialer = await bareNode(defer, { ...stacks[from](), services: { identify: identify() } })
      const opened = Promise.withResolvers<number[]>()

      dialer.addEventListener('connection:open', ({ detail: connection }) => {
        Promise.all(Array.from({ length: 30 }, async () => firstByte(await connection.newStream(ECHO)))).then(opened.resolve, opened.reject)
      })
      await dialer.dial(listener.getMultiaddrs())

      expect(await opened.promise).to.deep.equal(new Array(30).fill(42))
    })

    it(`from ${from}: one that waits ends with its signal, and the others go on`, async () => {
      const { dialer, listener } = await pair(defer, from, OFFICIAL, {
        connectionGater: { denyInboundUpgradedConnection: async () => delay(500, false) }
      })
      const connection = await dialer.dial(listener.getMultiaddrs())
      const first = Array.from({ length: 10 }, async () => firstByte(await connection.newStream(ECHO)))
      const reason = new Error('enough')
      const controller = new AbortController()
      const given = connection.newStream(ECHO, { signal: controller.signal })
      const last = connection.newStream(ECHO)

      controller.abort(reason)
      await expect(given).to.eventually.be.rejectedWith('enough')
      expect(await Promise.all(first)).to.deep.equal(new Array(10).fill(42))
      expect(await firstByte(await last)).to.equal(42)
    })

    it(`from ${from}: those that wait are told that the connection is closed`, async () => {
      const { dialer, listener } = await pair(defer, from, OFFICIAL, {
        connectionGater: { denyInboundUpgradedConnection: async () => delay(500, false) }
      })
      const connection = await dialer.dial(listener.getMultiaddrs())
      const streams = Array.from({ length: 20 }, async () => firstByte(await connection.newStream(ECHO)))
      const results = Promise.allSettled(streams)

      connection.abort(new Error('gone'))
      expect((await results).every(({ status }) => status === 'rejected')).to.be.true()
    })
  }

  it(`from ${PLAIN}: none waits once the peer has answered, also if those streams have ended`, async () => {
    const { dialer, listener } = await pair(defer, PLAIN, OFFICIAL)
    const connection = await dialer.dial(listener.getMultiaddrs())

    for (let i = 0; i < 5; i++) {
      const stream = await connection.newStream(ECHO)

      await firstByte(stream)
      await stream.close()
      await until(() => connection.streams.length === 0, 'it has ended')
    }

    const signal = AbortSignal.timeout(5_000)
    const bytes = await Promise.all(Array.from({ length: 50 }, async () => firstByte(await connection.newStream(ECHO, { signal }))))

    expect(bytes).to.deep.equal(new Array(50).fill(42))
  })

  // the others wait ten seconds for a peer that is silent
  itAtOnce(`from ${DECORATED}: those that time out while a connection gater of the listener takes its time do not make others too many`, async defer => {
    const { dialer, listener } = await pair(defer, DECORATED, OFFICIAL, {
      connectionGater: { denyInboundUpgradedConnection: async () => delay(500, false) }
    }, { streamMuxers: [yamux({ replyTimeout: 100 })] })
    const connection = await dialer.dial(listener.getMultiaddrs())
    const first = await Promise.allSettled(Array.from({ length: 10 }, async () => firstByte(await connection.newStream(ECHO, { negotiateFully: false }))))

    expect(first.map(({ status }) => status)).to.deep.equal(new Array(10).fill('rejected'))
    expect(await Promise.all(Array.from({ length: 40 }, async () => firstByte(await connection.newStream(ECHO, { negotiateFully: false }))))).to.deep.equal(new Array(40).fill(42))
  })
})
