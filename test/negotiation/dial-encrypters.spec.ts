import { noise as chainsafeNoise } from '@chainsafe/libp2p-noise'
import { yamux as chainsafeYamux } from '@chainsafe/libp2p-yamux'
import { noise } from '@libp2p/noise'
import { plaintext } from '@libp2p/plaintext'
import { tls } from '@libp2p/tls'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { NOISE, TLS } from './fixtures/proposals.ts'
import { relayTo, remote } from './fixtures/remote.ts'
import { ECHO, echoNode, firstByte } from './fixtures/stacks.ts'

describe('several encrypters', () => {
  const defer = cleanUpAfterEach()

  const encrypters = { '/noise': noise(), '/tls/1.0.0': tls() }

  for (const [first, second, proposal] of [['/noise', '/tls/1.0.0', NOISE], ['/tls/1.0.0', '/noise', TLS]] as const) {
    it(`${first} is offered optimistically, and ${second} on the redial to a peer that speaks only that`, async () => {
      const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [encrypters[second]] })
      const { addr, visits } = await remote(defer, [relayTo(portOf(listener))])
      const { dial, counted } = await dialer(defer, { connectionEncrypters: [encrypters[first], encrypters[second]] })

      const connection = await dial(addr)

      expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
      expect(connection.encryption).to.equal(second)
      expect(visits).to.have.lengthOf(2)
      expect(visits[0].received.subarray(0, proposal.byteLength)).to.equalBytes(proposal)
      expect(visits[1].received.subarray(0, proposal.byteLength)).to.equalBytes(proposal)
      expect(counted()).to.deep.equal({ refused: 1, redialed: 1 })
    })

    it(`${first} is agreed on at once with a peer that speaks both`, async () => {
      const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [encrypters[second], encrypters[first]] })
      const { addr, visits } = await remote(defer, [relayTo(portOf(listener))])
      const { dial, counted } = await dialer(defer, { connectionEncrypters: [encrypters[first], encrypters[second]] })

      const connection = await dial(addr)

      expect(connection.encryption).to.equal(first)
      expect(visits).to.have.lengthOf(1)
      expect(counted()).to.deep.equal({ accepted: 1 })
    })
  }

  it('with nothing in common fail after one redial', async () => {
    const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [tls()] })
    const { addr, left, visits } = await remote(defer, [relayTo(portOf(listener))])
    const { dial } = await dialer(defer, { connectionEncrypters: [noise()] })

    await expect(dial(addr)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')
    await left()
    expect(visits).to.have.lengthOf(2)
  })

  it('with plaintext first are negotiated in full, all over one connection', async () => {
    const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [noise()] })
    const { addr, visits } = await remote(defer, [relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer, { connectionEncrypters: [plaintext(), noise()] })

    const connection = await dial(addr)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(connection.encryption).to.equal('/noise')
    expect(visits).to.have.lengthOf(1)
    expect(counted()).to.deep.equal({})
  })

  it('@chainsafe/libp2p-noise and @chainsafe/libp2p-yamux work the same', async () => {
    const stack = { connectionEncrypters: [chainsafeNoise()], streamMuxers: [chainsafeYamux()] }
    const listener = await echoNode(defer, '127.0.0.1', stack)
    const { dial, counted } = await dialer(defer, stack)

    const connection = await dial(`/ip4/127.0.0.1/tcp/${portOf(listener)}`)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(counted()).to.deep.equal({ accepted: 1 })
  })
})
