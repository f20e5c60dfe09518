import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { NA, NOISE } from './fixtures/proposals.ts'
import { relayTo, remote, reply } from './fixtures/remote.ts'
import { echoNode } from './fixtures/stacks.ts'

describe('an address that refused an optimistic dial', () => {
  const defer = cleanUpAfterEach()

  it('is negotiated with in full at once by the next dial', async () => {
    const listener = await echoNode(defer)
    const { addr, visits } = await remote(defer, [reply(NA), relayTo(portOf(listener))])
    const { dial, counted, progress } = await dialer(defer)

    await dial(addr)
    expect(visits).to.have.lengthOf(2)

    await dial(addr)
    expect(visits).to.have.lengthOf(3)
    expect(progress.slice(-1)).to.deep.equal(['tcp:open-connection'])
    expect(counted()).to.deep.equal({ refused: 1, redialed: 1 })
  })

  it('does not make other addresses wait', async () => {
    const listener = await echoNode(defer)
    const refusing = await remote(defer, [reply(NA), relayTo(portOf(listener))])
    const other = await remote(defer, [relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer)

    await dial(refusing.addr)
    await dial(other.addr)

    expect(other.visits).to.have.lengthOf(1)
    expect(counted()).to.deep.equal({ refused: 1, redialed: 1, accepted: 1 })
  })

  it('is remembered by one transport, not by all of the process', async () => {
    const listener = await echoNode(defer)
    const { addr } = await remote(defer, [reply(NA), relayTo(portOf(listener))])
    const first = await dialer(defer)
    const second = await dialer(defer)

    await first.dial(addr)
    await second.dial(addr)

    expect(second.counted()).to.deep.equal({ accepted: 1 })
  })

  it('is not remembered for having dropped one connection, if the next one fares no better', async () => {
    const listener = await echoNode(defer)
    const hangUp = reply(new Uint8Array(), 'RST')
    const { addr, visits } = await remote(defer, [hangUp, hangUp, relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer)

    // such as a listener does that admits no more connections at the moment
    await expect(dial(addr)).to.eventually.be.rejected()
    expect(visits).to.have.lengthOf(2)

    await dial(addr)
    expect(visits).to.have.lengthOf(3)
    expect(counted()).to.have.property('accepted', 1)
  })

  it('is told apart from one that accepted before and after', async () => {
    const listener = await echoNode(defer)
    const { addr, visits } = await remote(defer, [relayTo(portOf(listener)), reply(NA), relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer)

    await dial(addr)
    await dial(addr)
    expect(visits).to.have.lengthOf(3)
    expect(counted()).to.deep.equal({ accepted: 1, refused: 1, redialed: 1 })
    expect(visits[0].received.subarray(0, NOISE.byteLength)).to.equalBytes(NOISE)
  })
})
