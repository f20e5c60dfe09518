import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../fixtures/cleanup.ts'
import { hasSilence } from '../../fixtures/machine.ts'
import { createNode } from '../../fixtures/node.ts'
import { skipUnless } from '../../fixtures/skip.ts'
import { until, within } from '../../fixtures/waiting.ts'
import { addressOf, countSockets, mutePort, refusedPort, silentPorts, somePeerId, strangerPort } from './fixtures/addresses.ts'
import { liveNode } from './fixtures/live-node.ts'

describe('addresses that are dialed at once', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()
  const live = liveNode(defer)

  skipUnless(hasSilence)

  it('fail with one error that has each address and its reason', async () => {
    const dialer = await createNode(defer, { connectionManager: { addressDialTimeout: 1_000 } })
    const [silent] = await silentPorts(defer, 1)
    const ports = [silent, await refusedPort(), await refusedPort(), await mutePort(defer)]
    const { sockets } = countSockets(defer)
    const start = performance.now()
    const err: any = await dialer.dial(live.at(ports)).then(() => {}, err => err)

    expect(err.name).to.equal('AggregateError')
    expect(err.errors).to.have.lengthOf(4)
    // the first had libp2p's time for one address, in which the others were dialed too
    ports.forEach(port => { expect(err.errors[0].message).to.include(`/tcp/${port}/`) })
    expect(err.errors[1].code).to.equal('ECONNREFUSED')
    expect(err.errors[1].message).to.include(`:${ports[1]}`)
    expect(err.errors[2].message).to.include(`:${ports[2]}`)
    // a silent address and a mute one have a time of their own in libp2p
    expect(performance.now() - start).to.be.below(3_500)
    expect(sockets.length).to.be.at.most(12)
    expect(sockets.every(socket => socket.destroyed)).to.equal(true)
  })

  it('fail at once if all refuse, each dialed once', async () => {
    const dialer = await createNode(defer)
    const ports = await Promise.all(Array.from({ length: 5 }, async () => refusedPort()))
    const { sockets } = countSockets(defer)
    const err: any = await dialer.dial(live.at(ports)).then(() => {}, err => err)

    expect(err.errors.map(({ code }: any) => code)).to.deep.equal(ports.map(() => 'ECONNREFUSED'))
    expect(sockets).to.have.lengthOf(5)
  })

  it('leave no socket and no dial behind when the caller gives up', async () => {
    const dialer = await createNode(defer)
    const ports = [...await silentPorts(defer, 3), await mutePort(defer), await strangerPort(defer)]
    const { sockets } = countSockets(defer)

    for (const ms of [0, 5, 100, 260, 400, 600]) {
      const err: any = await dialer.dial(live.at(ports), { signal: AbortSignal.timeout(ms) }).then(() => {}, err => err)

      expect(err).to.have.property('name', 'TimeoutError')
      await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
    }

    const { length } = sockets
    await delay(600)
    expect(sockets).to.have.lengthOf(length)
  })

  it('leave no socket and no dial behind when the node stops', async () => {
    const ports = [...await silentPorts(defer, 3), await mutePort(defer)]
    const { sockets } = countSockets(defer)

    for (const ms of [0, 100, 300, 600]) {
      const dialer = await createNode(defer)
      const dialed = dialer.dial(live.at(ports)).then(() => {}, err => err)

      await delay(ms)
      await dialer.stop()
      expect(await within(1_000, 'the dial', dialed)).to.be.an('error')
      await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
    }

    const { length } = sockets
    await delay(600)
    expect(sockets).to.have.lengthOf(length)
  })

  it('are 25 at most, each dialed twice at most, however many the peer has', async () => {
    const dialer = await createNode(defer)
    const stranger = await strangerPort(defer)
    const mute = await mutePort(defer)
    const addresses = Array.from({ length: 1_000 }, (_, i) => multiaddr(`/ip4/127.0.${1 + Math.floor(i / 250)}.${1 + i % 250}/tcp/${i % 2 === 0 ? stranger : mute}/p2p/${live.node.peerId}`))
    const { sockets } = countSockets(defer)

    await expect(dialer.dial(addresses, { signal: AbortSignal.timeout(4_000) })).to.eventually.be.rejected()
    expect(sockets.length).to.be.at.least(20)
    expect(sockets.length).to.be.at.most(50)
  })

  it('wait for an answer with 32 sockets of the node at most, besides the first one of each dial', async () => {
    const dialer = await createNode(defer)
    const silent = await silentPorts(defer, 3)
    const peers = await Promise.all(Array.from({ length: 40 }, somePeerId))
    const { sockets } = countSockets(defer)

    const dials = peers.map(async peer => {
      await expect(dialer.dial(silent.map(port => addressOf(port, peer)), { signal: AbortSignal.timeout(3_000) })).to.eventually.be.rejected()
    })
    let most = 0
    const watch = setInterval(() => { most = Math.max(most, sockets.filter(({ destroyed }) => !destroyed).length) }, 10)

    await Promise.all(dials).finally(() => { clearInterval(watch) })

    expect(most).to.be.at.least(41)
    expect(most).to.be.at.most(72)
    await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
  })
})
