import net from 'node:net'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { linux } from '../../src/linux/index.ts'
import { reusePort } from '../../src/nat/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { canListen, skipped } from './fixtures/availability.ts'
import { expectNoLeak } from './fixtures/descriptors.ts'

const isThere = canListen && typeof net.BoundSocket === 'function'

describe(`Fast Open and reusePort${skipped(isThere)}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(isThere)

  for (const host of ['/ip4/127.0.0.1', '/ip6/::1']) {
    it(`a dial leaves from the listening port, with its first bytes in the SYN: ${host}`, async () => {
      const counts = counters()
      const listening = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).listen(`${host}/tcp/0`)
      const dialing = rawTransport(defer, { linux: linux({ fastOpen: true }), reusePort: reusePort() }, { metrics: counts.metrics })
      const { port } = await dialing.listen(`${host}/tcp/0`)
      const dialOnce = async (): Promise<void> => {
        const maConn = await dialing.dial(listening.addr, {
          upgrader: passThrough(maConn => { maConn.send(Uint8Array.of(1)) })
        })
        const accepted = await listening.next()

        expect(accepted.remoteAddr.toString()).to.equal(`${host}/tcp/${port}`)
        // the listener closes first: the 4-tuple is in TIME_WAIT at its end, and free at ours
        await accepted.close()
        await maConn.close()
      }

      // a cookie
      const first = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).dial(listening.addr)
      await listening.next()
      await first.close()

      await expectNoLeak(dialOnce)
      expect(counts.value('libp2p_tcp_fast_open_dials_total', 'acknowledged')).to.equal(1)
      expect(counts.labels('libp2p_tcp_dial_ports_total')).to.deep.equal({ reused: 1 })
    })
  }

  it('a dial whose port is in use with the same peer leaves from any, with its first bytes in the SYN', async () => {
    const counts = counters()
    const listening = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).listen()
    const dialing = rawTransport(defer, { linux: linux({ fastOpen: true }), reusePort: reusePort() }, { metrics: counts.metrics })
    await dialing.listen()

    const first = await dialing.dial(listening.addr)
    const second = await dialing.dial(listening.addr)

    expect(first.status).to.equal('open')
    expect(second.status).to.equal('open')
    expect(counts.labels('libp2p_tcp_dial_ports_total')).to.deep.equal({ reused: 1, taken: 1 })
  })

  it('a dial leaves from the listening port of IPv6 where a stranger has that of IPv4', async () => {
    const counts = counters()
    const listening = await rawTransport(defer, { linux: linux() }).listen('/ip6/::1/tcp/0')
    const dialing = rawTransport(defer, { linux: linux(), reusePort: reusePort() }, { metrics: counts.metrics })
    const { port } = await dialing.listen('/ip6/::/tcp/0')
    const stranger = net.createServer().listen(port, '0.0.0.0')
    await pEvent(stranger, 'listening')
    defer(() => { stranger.close() })

    await dialing.dial(listening.addr)

    expect((await listening.next()).remoteAddr.toString()).to.equal(`/ip6/::1/tcp/${port}`)
    expect(counts.labels('libp2p_tcp_dial_ports_total')).to.deep.equal({ reused: 1 })
  })

  it('two servers share a port that takes data in a SYN', async () => {
    const { listen } = rawTransport(defer, { linux: linux({ fastOpen: true }), reusePort: reusePort({ shared: true }) })
    const { addr } = await listen()

    expect((await listen(addr)).addr.toString()).to.equal(addr.toString())
  })

  it('a dial that punches a hole is an ordinary one: its SYN does not wait', async () => {
    const counts = counters()
    const listening = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).listen()
    const dialing = rawTransport(defer, { linux: linux({ fastOpen: true }), reusePort: reusePort() }, { metrics: counts.metrics })
    await dialing.listen()

    await dialing.dial(listening.addr, { reusePort: true })
    expect(counts.labels('libp2p_tcp_fast_open_dials_total')).to.deep.equal({})
    expect(counts.labels('libp2p_tcp_dial_ports_total')).to.deep.equal({ reused: 1 })
  })
})
