import { expect } from 'aegir/chai'
import { linux } from '../../src/linux/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { freePort } from '../fixtures/free-port.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { openSockets, until } from '../fixtures/waiting.ts'
import { fullBacklog } from '../fixtures/workers.ts'
import { dialer } from '../negotiation/fixtures/dialer.ts'
import { canListen, skipped } from './fixtures/availability.ts'
import { expectNoLeak } from './fixtures/descriptors.ts'
import { echoOnce, fastDialer, listener } from './fixtures/fast-dials.ts'
import type { Linux } from '../../src/index.ts'
import type { Libp2pOptions } from 'libp2p'

describe(`dials with Fast Open that fail${skipped(canListen)}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(canListen)

  /** The same dial with and without Fast Open: what it rejects with, counts and logs as progress */
  async function compare (addr: string, options: object = {}): Promise<[Failure, Failure]> {
    // a cookie for the host, without which a dial is an ordinary one
    const cookie = await listener(defer)
    const { dial } = await fastDialer(defer)
    await echoOnce(await dial(cookie.getMultiaddrs()[0].toString()))

    return [await failure(undefined, addr, options), await failure(linux({ fastOpen: true }), addr, options)]
  }

  interface Failure { error: any, counted: Record<string, number>, errors: Record<string, number>, progress: string[] }

  async function failure (linux: Linux | undefined, addr: string, options: object): Promise<Failure> {
    const counts = counters()
    const { dial, progress } = await dialer(defer, { tcp: { linux }, counts })
    const signal = AbortSignal.timeout(300)
    const error = await dial(addr, { signal, ...options }).then(() => { throw new Error('dialed') }, err => err)

    return {
      error,
      progress,
      counted: counts.labels('libp2p_tcp_dialer_events_total'),
      errors: counts.labels('libp2p_tcp_dialer_errors_total')
    }
  }

  it('because the port is closed: the same TCPConnectError', async () => {
    const [ordinary, fast] = await compare(`/ip4/127.0.0.1/tcp/${await freePort()}`)

    expect(ordinary.error).to.have.property('code', 'ECONNREFUSED')
    expect(fast.error.constructor).to.equal(ordinary.error.constructor)
    expect(fast.error.message).to.equal(ordinary.error.message)
    expect({ ...fast.error, cause: { ...fast.error.cause, cause: undefined } }).to.deep.equal({ ...ordinary.error, cause: { ...ordinary.error.cause, cause: undefined } })
    expect({ ...fast, error: undefined }).to.deep.equal({ ...ordinary, error: undefined })
  })

  it('because the signal fires while the peer is silent: the same AbortError', async () => {
    const port = await fullBacklog(defer)
    const [ordinary, fast] = await compare(`/ip4/127.0.0.1/tcp/${port}`)

    expect(ordinary.error).to.have.property('name', 'AbortError')
    expect(fast.error).to.have.property('name', 'AbortError')
    expect({ ...fast, error: undefined }).to.deep.equal({ ...ordinary, error: undefined })
  }).timeout(20_000)

  it('because the timeout option passes: the same TimeoutError', async () => {
    const port = await fullBacklog(defer)
    const [ordinary, fast] = await compare(`/ip4/127.0.0.1/tcp/${port}`, { timeout: 100, signal: AbortSignal.timeout(5_000) })

    expect(ordinary.error).to.have.property('name', 'TimeoutError')
    expect(fast.error).to.have.property('name', 'TimeoutError')
    expect(fast.error.message.replaceAll(/\d+ms/g, '')).to.equal(ordinary.error.message.replaceAll(/\d+ms/g, ''))
    expect({ ...fast, error: undefined }).to.deep.equal({ ...ordinary, error: undefined })
  }).timeout(20_000)

  it('because there is no route: the same TCPConnectError', async () => {
    const [ordinary, fast] = await compare('/ip4/203.0.113.1/tcp/1')

    expect(fast.error.message).to.equal(ordinary.error.message)
    expect({ ...fast, error: undefined }).to.deep.equal({ ...ordinary, error: undefined })
  })

  const refusals: Record<string, Libp2pOptions> = {
    'the gater of the peer denies it': { connectionGater: { denyInboundConnection: async () => true } },
    'the peer has too many connections': { connectionManager: { maxConnections: 1 } }
  }

  for (const [reason, node] of Object.entries(refusals)) {
    it(`because ${reason}: the same TCPConnectError, every time`, async () => {
      const addr = (await listener(defer, { node })).getMultiaddrs()[0].toString()
      const { dial } = await dialer(defer)

      // the one connection that may be
      await dial(addr).catch(() => {})

      for (let i = 0; i < 3; i++) {
        const [ordinary, fast] = await compare(addr, { signal: AbortSignal.timeout(5_000) })

        expect(fast.error.constructor).to.equal(ordinary.error.constructor)
        expect(fast.error).to.have.property('code', 'ECONNRESET')
        expect(fast.error.message).to.equal(ordinary.error.message)
        expect(fast.counted).to.not.have.property('connect')
      }
    }).timeout(20_000)
  }

  it('leave no descriptor, handle or timer', async () => {
    const addr = `/ip4/127.0.0.1/tcp/${await freePort()}`
    const { dial } = await fastDialer(defer)

    await expectNoLeak(async () => {
      for (let i = 0; i < 50; i++) {
        await dial(addr).catch(() => {})
      }
    })

    await until(() => openSockets() === 0, 'no handle is left')
  })
})
