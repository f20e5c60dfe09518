import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { turns } from '../fixtures/bytes.ts'
import { until } from '../fixtures/waiting.ts'
import { ADDRESS, OTHER, PEER, US, connection, refused, relayed, setUp } from './fixtures/punching-node.ts'
import type { Dial } from './fixtures/punching-node.ts'

describe('holePunching()', () => {
  it('returns the service', () => {
    expect(setUp().service).to.deep.equal({ name: 'service' })
  })

  it('needs a transport with reusePort', async () => {
    const { components } = setUp({ observing: false })

    await expect(components().registrar.register('/libp2p/dcutr', {})).to.eventually.be.rejected.with.property('name', 'InvalidParametersError')
  })

  it('offers what peers observe, besides what is verified', () => {
    const { components, observed } = setUp()
    observed.add({ id: '1', status: 'open' }, '46.0.0.1', multiaddr('/ip4/45.0.1.2/tcp/4001'))
    observed.add({ id: '2', status: 'open' }, '46.0.0.2', multiaddr('/ip4/45.0.1.9/tcp/9'))

    expect(components().addressManager.getAddresses().map(String)).to.deep.equal([
      `/ip4/45.0.1.9/tcp/9/p2p/${US}`,
      `/ip4/45.0.1.2/tcp/4001/p2p/${US}`
    ])
  })

  it('dials as the dialer, from the listening port, where we dialed over the relay', async () => {
    const { handle, dials, passedOn, progress, counts } = setUp()
    const punching = handle()
    await until(() => dials.length === 1, 'the dial')
    const opened = connection()
    dials[0].resolve(opened)

    expect(await punching).to.equal(opened)
    expect(dials[0]).to.have.property('ma', `${ADDRESS}/p2p/${PEER}`)
    expect(dials[0].options).to.include({ initiator: true, reusePort: true })
    expect(passedOn).to.be.empty()
    expect(progress.map(({ type }: any) => type)).to.deep.equal(['hole-punch:start', 'hole-punch:opened'])
    expect(progress[0].detail).to.include({ peer: PEER, initiator: true })
    expect(counts).to.deep.equal({ tried: 1, opened: 1 })
  })

  it('dials as the listener where the peer dialed over the relay', async () => {
    const { onConnect, dials } = setUp()
    const punching = onConnect({ initiator: false, priority: 100 })
    await until(() => dials.length === 1, 'the dial')
    dials[0].resolve(connection())
    await punching

    expect(dials[0].options).to.include({ initiator: false, reusePort: true })
  })

  it('leaves alone what is no punch', async () => {
    const { components, onConnect, passedOn, dials } = setUp()

    await onConnect()
    await components().connectionManager.openConnection([ADDRESS], { force: true, initiator: false })
    await components().connectionManager.openConnection(PEER)
    expect(passedOn).to.have.lengthOf(3)
    expect(dials).to.be.empty()
  })

  it('dials all addresses of the peer at once, each once, eight at most, no names and none of another peer', async () => {
    const { handle, dials } = setUp()
    const targets = Array.from({ length: 20 }, (_, i) => multiaddr(`/ip4/45.0.2.2/tcp/${i + 1}`))
    const punching = handle({}, [multiaddr(`${ADDRESS}/p2p/${OTHER}`), multiaddr('/dns4/tarpit.test/tcp/1'), ADDRESS, multiaddr(`${ADDRESS}/p2p/${PEER}`), ...targets])
    await until(() => dials.length >= 8, 'the dials')
    const [first, second] = dials
    const loser: any = connection()
    const winner = connection()
    second.resolve(winner)
    first.resolve(loser)

    expect(new Set(dials.map(({ ma }: Dial) => ma)).size).to.equal(8)
    expect(dials.filter(({ ma }: Dial) => !ma.startsWith('/ip4/45.0.2.2/'))).to.be.empty()
    expect([winner, loser]).to.include(await punching)
    expect(dials.every(({ options }: Dial) => options.signal.aborted)).to.be.true()
    await until(() => [winner, loser].filter((one: any) => one.closed).length === 1, 'the other one is closed')
  })

  it('resolves with the connection of the peer, if that is accepted first', async () => {
    const { handle, dials, open, listeners } = setUp()
    const punching = handle()
    await until(() => dials.length === 1, 'the dial')
    open(connection({ remotePeer: OTHER }))
    open(relayed('inbound'))
    // that of our own dial is handed out by the dial
    open(connection({ remoteAddr: multiaddr(dials[0].ma) }))
    const accepted = connection({ remoteAddr: multiaddr('/ip4/45.0.2.2/tcp/99') })
    open(accepted)

    expect(await punching).to.equal(accepted)
    expect(dials[0].options.signal.aborted).to.be.true()
    expect(listeners()).to.equal(0)
  })

  it('resolves with the connection of the peer, also where it left from the port that is dialed', async () => {
    const { handle, dials, open } = setUp()
    const punching = handle()
    await until(() => dials.length === 1, 'the dial')
    const accepted = connection({ remoteAddr: multiaddr(dials[0].ma) })
    open(accepted)

    expect(await punching).to.equal(accepted)
  })

  it('leaves the choice of the connection to the end that is the initiator', async () => {
    const { onConnect, dials } = setUp()
    const punching = onConnect({ initiator: false }, [multiaddr('/ip4/45.0.2.2/tcp/1'), multiaddr('/ip4/45.0.2.2/tcp/2')])
    await until(() => dials.length === 2, 'the dials')
    const [winner, other] = [connection(), connection()]

    dials[0].resolve(winner)
    expect(await punching).to.equal(winner)
    expect(dials[1].options.signal.aborted).to.be.false()
    dials[1].resolve(other)
    await turns(2)
    expect((other as any).closed).to.not.equal(true)
  })

  it('resolves with a direct connection that is there', async () => {
    const { handle, connections, dials } = setUp()
    const direct = connection()
    connections.push(relayed('outbound'), direct)

    expect(await handle()).to.equal(direct)
    expect(dials).to.be.empty()
  })

  it('resolves with a direct connection that comes while the connection gater is asked', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<boolean>()
    const { handle, connections, dials } = setUp({
      gater: { denyDialPeer: async () => { asked.resolve(); return answer.promise } }
    })
    const punching = handle()
    await asked.promise
    const direct = connection()
    connections.push(direct)
    answer.resolve(false)

    expect(await punching).to.equal(direct)
    expect(dials).to.be.empty()
  })

  it('dials again where it was refused, until the signal fires', async () => {
    const { handle, dials, progress, counts, listeners } = setUp()
    const controller = new AbortController()
    const punching = handle({ signal: controller.signal })

    for (let i = 0; i < 3; i++) {
      await until(() => dials.length === i + 1, 'the next dial')
      dials[i].reject(refused())
    }

    controller.abort()
    await expect(punching).to.eventually.be.rejected.with.property('name', 'AbortError')
    expect(progress.at(-1)).to.have.property('type', 'hole-punch:failed')
    expect(progress.at(-1).detail).to.have.property('reason', 'refused')
    expect(counts).to.deep.equal({ tried: 1, failed_refused: 1 })
    expect(listeners()).to.equal(0)
  })

  it('fails when the signal fires', async () => {
    const { handle, dials, counts, listeners } = setUp()
    const controller = new AbortController()
    const punching = handle({ signal: controller.signal })
    await until(() => dials.length === 1, 'the dial')
    controller.abort()

    await expect(punching).to.eventually.be.rejected()
    expect(dials[0].options.signal.aborted).to.be.true()
    expect(counts).to.deep.equal({ tried: 1, failed_timeout: 1 })
    expect(listeners()).to.equal(0)
  })

  it('fails when the signal fires while the connection gater is asked, and leaves no listener', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<boolean>()
    const { handle, dials, counts, listeners } = setUp({
      gater: { denyDialPeer: async () => { asked.resolve(); return answer.promise } }
    })
    const controller = new AbortController()
    const punching = handle({ signal: controller.signal })
    await asked.promise
    controller.abort()

    await expect(punching).to.eventually.be.rejected.with.property('name', 'AbortError')
    answer.resolve(false)
    await turns(2)
    expect(dials).to.be.empty()
    expect(counts).to.deep.equal({ tried: 1, failed_timeout: 1 })
    expect(listeners()).to.equal(0)
  })

  it('fails and leaves no listener where the signal has fired already', async () => {
    const { handle, dials, listeners } = setUp()

    await expect(handle({ signal: AbortSignal.abort() })).to.eventually.be.rejected.with.property('name', 'AbortError')
    expect(dials).to.be.empty()
    expect(listeners()).to.equal(0)
  })

  it('fails where what it reaches is not the peer', async () => {
    const { handle, dials, counts, listeners } = setUp()
    const punching = handle()
    await until(() => dials.length === 1, 'the dial')
    dials[0].reject(new Error('wrong peer'))

    await expect(punching).to.eventually.be.rejectedWith('wrong peer')
    expect(counts).to.deep.equal({ tried: 1, failed_upgrade: 1 })
    expect(listeners()).to.equal(0)
  })

  it('fails where the node stops', async () => {
    const { components, handle, dials, counts } = setUp()
    const punching = handle()
    await until(() => dials.length === 1, 'the dial')
    await components().registrar.unhandle('/libp2p/dcutr')

    await expect(punching).to.eventually.be.rejected()
    expect(counts).to.deep.equal({ tried: 1, failed_stopped: 1 })
  })

  for (const [name, gater] of Object.entries({
    'the peer': { denyDialPeer: async () => true },
    'its addresses': { denyDialMultiaddr: async () => true }
  })) {
    it(`dials nothing where the connection gater denies ${name}`, async () => {
      const { handle, dials, counts } = setUp({ gater })

      await expect(handle()).to.eventually.be.rejected.with.property('name', 'ConnectionFailedError')
      expect(dials).to.be.empty()
      expect(counts).to.deep.equal({ tried: 1, failed_denied: 1 })
    })
  }
})
