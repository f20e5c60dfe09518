import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { expect } from 'aegir/chai'
import { turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { NOISE, counting, joined } from './fixtures/proposals.ts'
import { relayTo, remote, reply } from './fixtures/remote.ts'
import { bareNode, echoNode, stacks } from './fixtures/stacks.ts'
import type { Remote } from './fixtures/remote.ts'
import type { ConnectionGater, Libp2p } from '@libp2p/interface'

describe('a dial that fails for another reason than a refusal is not repeated', () => {
  const defer = cleanUpAfterEach()

  async function relayed (listener?: Libp2p): Promise<Remote & { listener: Libp2p }> {
    const target = listener ?? await echoNode(defer)

    return {
      ...await remote(defer, [relayTo(portOf(target))]),
      listener: target
    }
  }

  it('when another peer than the wanted one answers', async () => {
    const { addr, left, visits } = await relayed()
    const { dial, progress, counted } = await dialer(defer)
    const wanted = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))

    await expect(dial(`${addr}/p2p/${wanted}`)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')

    await left()
    expect(visits).to.have.lengthOf(1)
    expect(progress).to.deep.equal(['tcp:open-connection'])
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('when it turns out that we dialed ourselves', async () => {
    const { node, dial, progress } = await dialer(defer, { addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })
    const { addr, left, visits } = await relayed(node)

    await expect(dial(addr)).to.eventually.be.rejected()

    await left()
    expect(visits).to.have.lengthOf(1)
    expect(progress).to.deep.equal(['tcp:open-connection'])
  })

  for (const method of ['denyOutboundConnection', 'denyOutboundEncryptedConnection', 'denyOutboundUpgradedConnection'] as const) {
    it(`when our gater says ${method}`, async () => {
      const connectionGater: ConnectionGater = { [method]: async () => true }
      const { addr, left, visits, listener } = await relayed()
      const { dial, progress } = await dialer(defer, { connectionGater })

      await expect(dial(`${addr}/p2p/${listener.peerId}`)).to.eventually.be.rejected.with.property('name', 'ConnectionInterceptedError')

      await left()
      await turns(20)
      expect(visits.length).to.be.at.most(1)
      expect(progress).to.deep.equal(['tcp:open-connection'])
    })
  }

  it('when the gater of the peer denies us once it knows who we are', async () => {
    const listener = await echoNode(defer, '127.0.0.1', {
      connectionGater: { denyInboundEncryptedConnection: async () => true }
    })
    const { addr, left, visits } = await relayed(listener)
    const { dial, counted } = await dialer(defer)

    // Noise is done here before it is there
    const connection = await dial(addr).catch(() => undefined)
    await until(() => connection == null || connection.status !== 'open', 'the connection is closed')

    await left()
    expect(visits).to.have.lengthOf(1)
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('when the handshake fails behind the right reply', async () => {
    const garbage = joined(NOISE, Uint8Array.of(0, 96), counting(96))
    const { addr, left, visits } = await remote(defer, [reply(garbage)])
    const { dial, counted, progress } = await dialer(defer)

    await expect(dial(addr)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')

    await left()
    expect(visits).to.have.lengthOf(1)
    expect(progress).to.deep.equal(['tcp:open-connection'])
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('when nobody listens', async () => {
    const { dial, counted, progress } = await dialer(defer)

    await expect(dial('/ip4/127.0.0.1/tcp/1')).to.eventually.be.rejected.with.property('name', 'ConnectionFailedError')
    expect(progress).to.deep.equal(['tcp:open-connection'])
    expect(counted()).to.deep.equal({})
  })

  it('when the encrypter fails at this end', async () => {
    const { addr, left, visits } = await remote(defer, [() => {}])
    const { dial, progress } = await dialer(defer, {
      connectionEncrypters: [() => ({
        protocol: '/broken',
        secureInbound: async () => { throw new Error('broken') },
        secureOutbound: async () => { throw new Error('broken') }
      })]
    })

    await expect(dial(addr)).to.eventually.be.rejected()
    await left()
    expect(visits).to.have.lengthOf(1)
    expect(progress).to.deep.equal(['tcp:open-connection'])
  })

  it('when optimism is off and the peer says na', async () => {
    const listener = await bareNode(defer, {
      ...stacks['@libp2p/tcp 11'](),
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }
    })
    const { addr, visits } = await remote(defer, [reply(new TextEncoder().encode('\x13/multistream/1.0.0\n\x03na\n')), relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer, { tcp: { optimistic: false } })

    await expect(dial(addr)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')
    await turns(20)
    expect(visits).to.have.lengthOf(1)
    expect(counted()).to.deep.equal({})
  })
})
