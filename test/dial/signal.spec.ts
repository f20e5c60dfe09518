import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { collect, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { hasSilence } from '../fixtures/machine.ts'
import { rawPeer, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { openHandles, until, within } from '../fixtures/waiting.ts'
import { fullBacklog } from '../fixtures/workers.ts'
import type { Upgrader } from '@libp2p/interface'

describe('the signal of a dial', () => {
  const defer = cleanUpAfterEach()

  async function expectNothingLeft (before: Record<string, number>): Promise<void> {
    // what a transport tried when it was created may still have been closing before
    await until(() => Object.entries(openHandles()).every(([name, count]) => count <= (before[name] ?? 0)), 'no socket is left')
  }

  it('fires before the dial: AbortError, and no connection is made', async () => {
    let connections = 0
    const { addr } = await rawPeer(defer, { onSocket () { connections++ } })
    const before = openHandles()

    await expect(rawTransport(defer).dial(addr, { signal: AbortSignal.abort() }))
      .to.eventually.be.rejected.with.property('name', 'AbortError')

    await expectNothingLeft(before)
    expect(connections).to.equal(0)
  })

  it('fires during the DNS lookup: AbortError at once, and no socket is left', async () => {
    const { port } = await rawPeer(defer)
    const before = openHandles()
    const controller = new AbortController()
    const dialing = rawTransport(defer).dial(`/dns4/localhost/tcp/${port}`, { signal: controller.signal })

    controller.abort()

    await expect(within(1_000, 'the dial', dialing))
      .to.eventually.be.rejected.with.property('name', 'AbortError')
    await expectNothingLeft(before)
  })

  itIf(hasSilence, 'a listener whose full queue is silent')('fires while connecting: AbortError at once, and no socket is left', async () => {
    const port = await fullBacklog(defer)
    const before = openHandles()
    const controller = new AbortController()
    const dialing = rawTransport(defer).dial(`/ip4/127.0.0.1/tcp/${port}`, { signal: controller.signal })
    dialing.catch(() => {})

    await turns(10)
    expect(openHandles().TCPSocketWrap).to.be.greaterThan(before.TCPSocketWrap ?? 0)
    controller.abort()

    await expect(within(1_000, 'the dial', dialing))
      .to.eventually.be.rejected.with.property('name', 'AbortError')
    await expectNothingLeft(before)
  })

  itIf(hasSilence, 'a listener whose full queue is silent')('times out while connecting: AbortError, and no socket is left', async () => {
    const port = await fullBacklog(defer)
    const before = openHandles()

    await expect(within(5_000, 'the dial', rawTransport(defer).dial(`/ip4/127.0.0.1/tcp/${port}`, { signal: AbortSignal.timeout(100) })))
      .to.eventually.be.rejected.with.property('name', 'AbortError')
    await expectNothingLeft(before)
  })

  it('fires during the upgrade: AbortError at once, and no socket is left', async () => {
    const { addr, next } = await rawPeer(defer)
    const { transport } = rawTransport(defer)
    const before = openHandles()
    const controller = new AbortController()
    const upgrading = Promise.withResolvers<void>()
    const dialing = transport.dial(multiaddr(addr), {
      signal: controller.signal,
      upgrader: {
        upgradeOutbound: async () => {
          upgrading.resolve()

          return new Promise(() => {})
        }
      } as unknown as Upgrader
    })

    await upgrading.promise
    controller.abort()

    await expect(within(1_000, 'the dial', dialing))
      .to.eventually.be.rejected.with.property('name', 'AbortError')
    await within(5_000, 'noticing', next().then(readAll))
    await expectNothingLeft(before)
  })

  it('the error of a failed upgrade is passed on, and no socket is left', async () => {
    const { addr, next } = await rawPeer(defer)
    const before = openHandles()

    await expect(rawTransport(defer).transport.dial(multiaddr(addr), {
      signal: AbortSignal.timeout(5_000),
      upgrader: {
        upgradeOutbound: async () => {
          throw new Error('Urk!')
        }
      } as unknown as Upgrader
    })).to.eventually.be.rejectedWith('Urk!')

    await within(5_000, 'noticing', next().then(readAll))
    await expectNothingLeft(before)
  })

  it('fault 5: fires after the dial: changes nothing', async () => {
    const { addr, next } = await rawPeer(defer)
    const controller = new AbortController()
    const conn = await rawTransport(defer).dial(addr, { signal: controller.signal })
    const socket = await next()
    const received = collect(conn)

    controller.abort()
    await turns(10)

    conn.send(Uint8Array.of(1, 2, 3))
    const [data] = await pEvent(socket, 'data', { multiArgs: true, timeout: 5_000 })
    expect(data).to.have.lengthOf(3)

    socket.write(Uint8Array.of(4, 5))
    await until(() => received.bytes === 2, 'the answer is here')
    expect(conn.status).to.equal('open')
  })
})
