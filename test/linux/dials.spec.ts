import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { linux } from '../../src/linux/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { rawPeer, readAll } from '../fixtures/peers.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { openSockets, until, within } from '../fixtures/waiting.ts'
import { dialer } from '../negotiation/fixtures/dialer.ts'
import { NA, NOISE } from '../negotiation/fixtures/proposals.ts'
import { remote, reply } from '../negotiation/fixtures/remote.ts'
import { canListen, skipped } from './fixtures/availability.ts'
import { echoOnce, fastDialer, listener } from './fixtures/fast-dials.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

describe(`dials with Fast Open${skipped(canListen)}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(canListen)

  for (const host of ['/ip4/127.0.0.1', '/ip6/::1', '/dns4/localhost']) {
    for (const security of ['noise', 'tls'] as const) {
      it(`send the first bytes in the SYN, which the listener acknowledges: ${host}, ${security}`, async () => {
        const node = await listener(defer, { host: host.replace('/dns4/localhost', '/ip4/127.0.0.1'), security })
        const { dial, outcomes } = await fastDialer(defer, security)
        const addr = `${host}/tcp/${node.getMultiaddrs()[0].toString().split('/')[4]}`

        // the first may have to fetch the cookie
        await echoOnce(await dial(addr))
        const { acknowledged = 0 } = outcomes()

        for (let i = 0; i < 3; i++) {
          await echoOnce(await dial(addr))
        }

        expect(outcomes().acknowledged).to.equal(acknowledged + 3)
      })
    }
  }

  it('count a connection when it stands, once each', async () => {
    const node = await listener(defer)
    const counts = counters()
    const { dial } = await fastDialer(defer)
    const { dial: counting } = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) }, counts })
    const addr = node.getMultiaddrs()[0].toString()

    await echoOnce(await dial(addr))

    for (let i = 0; i < 3; i++) {
      const connection = await counting(addr)
      await connection.close()
    }

    expect(counts.value('libp2p_tcp_dialer_events_total', 'connect')).to.equal(3)
    expect(counts.value('libp2p_tcp_dialer_events_total', 'error')).to.equal(0)
  })

  it('work to a listener that takes no data in a SYN', async () => {
    const fast = await listener(defer)
    const plain = await listener(defer, { options: {} })
    const { dial, outcomes } = await fastDialer(defer)

    // the cookie is the host's
    await echoOnce(await dial(fast.getMultiaddrs()[0].toString()))
    await echoOnce(await dial(plain.getMultiaddrs()[0].toString()))

    expect(outcomes().not_acknowledged).to.equal(1)
  })

  it('are dialed again, and negotiated with in full, where the peer refuses', async () => {
    const cookie = await listener(defer)
    const { dial, outcomes, progress, counted } = await fastDialer(defer)
    await echoOnce(await dial(cookie.getMultiaddrs()[0].toString()))

    const { addr, visits } = await remote(defer, [reply(NA), visit => { visit.socket.write(NOISE) }])
    const controller = new AbortController()
    const dialed = dial(addr, { signal: controller.signal }).catch(err => err)

    await until(() => visits.length === 2 && visits[1].received.byteLength > NOISE.byteLength, 'the second handshake begins')
    controller.abort()
    await dialed

    expect(progress).to.include('tcp:redial')
    expect(counted().redialed).to.equal(1)
    expect(outcomes()).to.not.have.property('retransmitted')
  })

  async function withCookie (): Promise<ReturnType<typeof rawTransport> & Awaited<ReturnType<ReturnType<typeof rawTransport>['listen']>>> {
    const transport = rawTransport(defer, { linux: linux({ fastOpen: true }) })
    const listening = await transport.listen()
    const first = await transport.dial(listening.addr)
    const accepted = await listening.next()

    await Promise.all([first.close(), accepted.close()])

    return { ...transport, ...listening }
  }

  it('reach a peer that speaks first, though nothing is written', async () => {
    const { dial, addr, next } = await withCookie()
    const heard = Promise.withResolvers<unknown>()
    const dialed = dial(addr, {
      upgrader: passThrough(async maConn => { heard.resolve(await pEvent(maConn, 'message')) })
    })
    const accepted = await within(2_000, 'the SYN', next())

    accepted.send(Uint8Array.of(1))
    await within(2_000, 'the first word', heard.promise)
    await dialed
  })

  it('end when the transport stops in a look-up that never answers', async () => {
    const { dial, transport } = rawTransport(defer, { linux: linux({ fastOpen: true }) })
    const asked = Promise.withResolvers<void>()
    const dialed = dial('/dns4/never.test/tcp/1', { lookup: () => { asked.resolve() } })
    dialed.catch(() => {})

    await asked.promise
    await transport.stop?.()
    await expect(within(1_000, 'the dial', dialed)).to.eventually.be.rejected.with.property('name', 'ConnectionFailedError')
    await until(() => openSockets() === 0, 'no socket is left')
  })

  it('resolve when the connection stands, though nothing was written', async () => {
    const { dial, addr, next } = await withCookie()
    const maConn = await within(2_000, 'the dial', dial(addr))
    const accepted = await next()
    const received = pEvent(accepted, 'message', { timeout: 2_000 })

    maConn.send(Uint8Array.of(1, 2, 3))
    expect((await received as any).data.byteLength).to.equal(3)
  })

  it('lose nothing that was sent before the connection is closed', async () => {
    const { dial, addr, next } = await withCookie()

    for (const bytes of [1, 1_000, 100_000, 3_000_000]) {
      const maConn = await dial(addr)
      const accepted = await next()
      const received = bytesOf(accepted)

      maConn.send(new Uint8Array(bytes))
      await maConn.close()
      expect(await within(5_000, 'the end', received)).to.equal(bytes)
    }
  })

  it('carry nothing but the proposal and the first message of the handshake in the SYN', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial } = await fastDialer(defer)
    const cookie = await listener(defer)
    await echoOnce(await dial(cookie.getMultiaddrs()[0].toString()))

    const controller = new AbortController()
    const dialed = dial(addr, { signal: controller.signal }).catch(() => {})
    const socket = await next()
    const [received] = await pEvent<string, [Buffer]>(socket, 'data', { multiArgs: true })

    controller.abort()
    await dialed
    await readAll(socket)

    // a length, and an ephemeral public key
    expect(received.byteLength).to.equal(NOISE.byteLength + 2 + 32)
    expect(socket.bytesRead).to.equal(received.byteLength)
    expect(received.subarray(0, NOISE.byteLength)).to.equalBytes(NOISE)
  })

  it('are ordinary ones where the other side begins, or nothing is encrypted', async () => {
    const node = await listener(defer)
    const counts = counters()
    const { dial } = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) }, counts })

    for (const options of [{ initiator: false }, { skipEncryption: true, muxerFactory: undefined }]) {
      await dial(node.getMultiaddrs()[0].toString(), { ...options, signal: AbortSignal.timeout(200) } as any).catch(() => {})
    }

    expect(counts.labels('libp2p_tcp_fast_open_dials_total')).to.deep.equal({})
  })
})

async function bytesOf (maConn: MultiaddrConnection): Promise<number> {
  let sum = 0

  for await (const { byteLength } of maConn) {
    sum += byteLength
  }

  return sum
}
