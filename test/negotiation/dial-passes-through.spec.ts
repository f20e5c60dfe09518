import { plaintext } from '@libp2p/plaintext'
import { generateKey, preSharedKey } from '@libp2p/pnet'
import { tls } from '@libp2p/tls'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { NOISE, PLAINTEXT } from './fixtures/proposals.ts'
import { relayTo, remote } from './fixtures/remote.ts'
import { rendezvous } from './fixtures/rendezvous.ts'
import { ECHO, EAGER, bareNode, echo, echoNode, firstByte, stacks } from './fixtures/stacks.ts'
import type { UpgraderOptions } from '@libp2p/interface'

describe('a dial with nothing to propose early passes through unchanged', () => {
  const defer = cleanUpAfterEach()

  function pnet (): { connectionProtector: ReturnType<typeof preSharedKey> } {
    const psk = new Uint8Array(95)
    generateKey(psk)

    return { connectionProtector: preSharedKey({ psk }) }
  }

  it('a private network: the connection works, and not one byte of multistream-select shows', async () => {
    const network = pnet()
    const listener = await echoNode(defer, '127.0.0.1', network)
    const { addr, visits } = await remote(defer, [relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer, network)

    const connection = await dial(addr)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(visits).to.have.lengthOf(1)
    expect(Buffer.from(visits[0].received).includes('multistream')).to.be.false()
    expect(counted()).to.deep.equal({})
  })

  it('a private network of another key: the dial fails as it does by the official transport', async () => {
    const listener = await echoNode(defer, '127.0.0.1', pnet())
    const { addr, visits } = await remote(defer, [relayTo(portOf(listener))])
    const { dial, counted } = await dialer(defer, pnet())

    await expect(dial(addr, { signal: AbortSignal.timeout(500) })).to.eventually.be.rejected()
    expect(visits).to.have.lengthOf(1)
    expect(counted()).to.deep.equal({})
  })

  it('plaintext: the connection works, and the exchange waits for the reply to the proposal', async () => {
    const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [plaintext()] })
    let sentBeforeReply: Uint8Array | undefined
    const { addr, visits } = await remote(defer, [relayTo(portOf(listener), async (bytes, write) => {
      sentBeforeReply ??= visits[0].received
      await write(bytes)
    })])
    const { dial, counted } = await dialer(defer, { connectionEncrypters: [plaintext()] })

    const connection = await dial(addr)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(sentBeforeReply).to.equalBytes(PLAINTEXT)
    expect(visits).to.have.lengthOf(1)
    expect(counted()).to.deep.equal({})
  })

  it('TLS: the connection works, and the handshake does not wait', async () => {
    const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [tls()] })
    const { dial, counted } = await dialer(defer, { connectionEncrypters: [tls()] })

    const connection = await dial(`/ip4/127.0.0.1/tcp/${portOf(listener)}`)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(connection.encryption).to.equal('/tls/1.0.0')
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('a dial that is not the initiator: the other end proposes', async () => {
    const { addr, visits } = await rendezvous(defer)
    const responder = await dialer(defer)
    const initiator = await dialer(defer)

    const responding = responder.dial(addr, { initiator: false } as Partial<UpgraderOptions>)
    responding.catch(() => {})
    await until(() => visits.length === 1, 'the responder is there')
    expect(visits[0].received, 'the responder waits').to.have.lengthOf(0)

    const [to, from] = await Promise.all([responding, initiator.dial(addr)])

    expect(to.remotePeer.equals(initiator.node.peerId)).to.be.true()
    expect(from.remotePeer.equals(responder.node.peerId)).to.be.true()
    expect(visits[0].received.subarray(0, NOISE.byteLength)).to.equalBytes(NOISE)
    expect(responder.counted()).to.deep.equal({})
    expect(initiator.counted()).to.deep.equal({ accepted: 1 })
  })

  it('inbound connections: the listener says nothing before it is asked', async () => {
    const { node, counted } = await dialer(defer, { addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })
    const peer = await bareNode(defer, stacks['@libp2p/tcp 11']())
    await node.handle(ECHO, echo)

    let order = ''
    const { addr } = await remote(defer, [visit => {
      visit.socket.once('data', () => { order += 'asked ' })
      return relayTo(portOf(node), async (bytes, write) => {
        order += 'answered '
        await write(bytes)
      })(visit)
    }])
    const connection = await peer.dial((await import('@multiformats/multiaddr')).multiaddr(addr))

    expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
    expect(order).to.match(/^asked answered /)
    expect(counted()).to.deep.equal({})
  })
})
