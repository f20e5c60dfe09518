import { expect } from 'aegir/chai'
import { LINGER_BOUNDS, LingeringSockets } from '../../src/connection/fin-wait.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { connectionOver, rawTransport } from '../fixtures/raw.ts'
import { until } from '../fixtures/waiting.ts'
import type { LingerBounds } from '../../src/connection/fin-wait.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

const NEVER = 600_000

/** Timers may be this early, in ms */
const EARLY = 10

describe('a closed connection whose peer stays open, within bounds', () => {
  const defer = cleanUpAfterEach()

  /** Connections that were closed, each with the peer that stays open */
  async function lingering (count: number, bounds: Partial<LingerBounds>): Promise<{ sockets: LingeringSockets, peers: Socket[], since: number }> {
    const sockets = new LingeringSockets({ idle: NEVER, total: NEVER, sockets: 1_000, ...bounds })
    const { addr, port, next } = await rawPeer(defer)
    const peers: Socket[] = []
    let since = 0

    for (let i = 0; i < count; i++) {
      const connection = connectionOver(await rawClient(defer, port), addr, { closeTimeout: 0, lingering: sockets })

      peers.push((await next()).resume())
      since = performance.now()
      await connection.close()
      expect(connection.status).to.equal('closed')
    }

    return { sockets, peers, since }
  }

  /** Keep sending, so that nobody takes the peer for silent */
  function chat (peer: Socket): void {
    const timer = setInterval(() => { peer.write('chat') }, 20)
    defer(() => { clearInterval(timer) })
  }

  it('is destroyed after a while without input', async () => {
    const { sockets, since } = await lingering(1, { idle: 200 })

    expect(sockets.size).to.equal(1)
    await until(() => sockets.size === 0, 'the socket is gone')
    expect(performance.now() - since).to.be.at.least(200 - EARLY)
  })

  it('stays as long as the peer sends', async () => {
    const { sockets, peers: [peer], since } = await lingering(1, { idle: 300 })

    chat(peer)
    await until(() => performance.now() - since > 1_000, 'a second has passed')
    expect(sockets.size).to.equal(1)
    expect(peer.destroyed).to.equal(false)
  })

  it('is destroyed some day even if the peer goes on sending', async () => {
    const { sockets, peers: [peer], since } = await lingering(1, { total: 400 })

    chat(peer)
    await until(() => sockets.size === 0, 'the socket is gone')
    expect(performance.now() - since).to.be.at.least(400 - EARLY)
    await until(() => peer.destroyed, 'the peer is told')
  })

  it('makes room for others when there are too many', async () => {
    const { sockets, peers } = await lingering(4, { sockets: 3 })

    expect(sockets.size).to.equal(3)
    peers.forEach(chat)
    await until(() => peers[0].destroyed, 'the oldest is gone')
    expect(peers.map(({ destroyed }) => destroyed)).to.deep.equal([true, false, false, false])
  })

  it('waits no longer when the peer has closed', async () => {
    const { sockets, peers: [peer] } = await lingering(1, {})

    peer.end()
    await until(() => sockets.size === 0, 'the socket is gone')
  })

  it(`is one of at most ${LINGER_BOUNDS.sockets} of a transport`, async function () {
    this.timeout(120_000)

    const { addr, next } = await rawPeer(defer)
    const { dial } = rawTransport(defer, { closeTimeout: 0 })
    const connections: MultiaddrConnection[] = []
    const peers: Socket[] = []

    while (connections.length <= LINGER_BOUNDS.sockets) {
      connections.push(await dial(addr))
      peers.push((await next()).resume())
    }

    await Promise.all(connections.map(async connection => connection.close()))

    // what has gone answers with RST
    peers.forEach(chat)
    await until(() => peers.some(({ destroyed }) => destroyed), 'one is gone')
    expect(peers.filter(({ destroyed }) => destroyed)).to.have.lengthOf(1)
  })
})
