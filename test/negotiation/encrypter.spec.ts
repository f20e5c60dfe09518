import { noise as chainsafeNoise } from '@chainsafe/libp2p-noise'
import { serviceDependencies } from '@libp2p/interface'
import { mplex } from '@libp2p/mplex'
import { noise } from '@libp2p/noise'
import { tls } from '@libp2p/tls'
import { yamux as stockYamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { optimistic, tcp, yamux } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { until } from '../fixtures/waiting.ts'
import { portOf } from './fixtures/dialer.ts'
import { withoutEarlyMuxer } from './fixtures/early-muxer.ts'
import { relayTo, remote } from './fixtures/remote.ts'
import { EAGER, ECHO, bareNode, echo, echoNode, firstByte } from './fixtures/stacks.ts'
import type { EncrypterFactory } from './fixtures/early-muxer.ts'
import type { Remote } from './fixtures/remote.ts'
import type { Connection, ConnectionGater, Libp2p, StreamMuxerFactory } from '@libp2p/interface'

interface Dialed extends Remote {
  listener: Libp2p
  dialer: Libp2p
  dial(): Promise<Connection>
  counted(): Record<string, number>
}

const encrypters: Record<string, EncrypterFactory> = {
  '@libp2p/noise': noise() as EncrypterFactory,
  '@chainsafe/libp2p-noise': chainsafeNoise() as EncrypterFactory,
  '@libp2p/tls': tls() as EncrypterFactory
}

describe('the muxer of a peer whose handshake does not name it', () => {
  const defer = cleanUpAfterEach()

  interface Options {
    ours: EncrypterFactory
    theirs: EncrypterFactory
    ourMuxers?: Array<() => StreamMuxerFactory>
    theirMuxers?: Array<() => StreamMuxerFactory>
    gater?: ConnectionGater
  }

  async function setUp ({ ours, theirs, ourMuxers = [stockYamux()], theirMuxers = [stockYamux()], gater = {} }: Options): Promise<Dialed> {
    const counts = counters()
    const listener = await echoNode(defer, '127.0.0.1', { connectionEncrypters: [theirs], streamMuxers: theirMuxers })
    const dialer = await bareNode(defer, {
      transports: [tcp()],
      connectionEncrypters: [components => optimistic(ours)({
        logger: components.logger,
        peerId: components.peerId,
        privateKey: components.privateKey,
        metrics: counts.metrics,
        // libp2p makes the encrypters first
        get upgrader () { return components.upgrader }
      })],
      streamMuxers: ourMuxers,
      connectionGater: gater
    })
    const relay = await remote(defer, [relayTo(portOf(listener))])

    return {
      ...relay,
      listener,
      dialer,
      dial: async () => dialer.dial(multiaddr(`${relay.addr}/p2p/${listener.peerId}`)),
      counted: () => counts.labels('libp2p_optimistic_muxers_total')
    }
  }

  for (const [name, encrypter] of Object.entries(encrypters)) {
    it(`is presumed over ${name}, and works`, async () => {
      const { dial, counted } = await setUp({ ours: encrypter, theirs: withoutEarlyMuxer(encrypter) })
      const connection = await dial()

      expect(connection.multiplexer).to.equal('/yamux/1.0.0')
      expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
      expect(counted()).to.deep.equal({ accepted: 1 })
    })

    it(`is not presumed over ${name} if the handshake names it`, async () => {
      const { dial, counted } = await setUp({ ours: encrypter, theirs: encrypter })
      const connection = await dial()

      expect(connection.multiplexer).to.equal('/yamux/1.0.0')
      expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
      expect(counted()).to.deep.equal({})
    })

    it(`is negotiated in full over ${name} if there are two`, async () => {
      const { dial, counted } = await setUp({
        ours: encrypter,
        theirs: withoutEarlyMuxer(encrypter),
        ourMuxers: [mplex(), stockYamux()]
      })
      const connection = await dial()

      expect(connection.multiplexer).to.equal('/yamux/1.0.0')
      expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
      expect(counted()).to.deep.equal({})
    })

    it(`closes the connection over ${name} if the peer does not speak it, and does not hang`, async () => {
      const { dial, dialer, left, visits } = await setUp({
        ours: encrypter,
        theirs: withoutEarlyMuxer(encrypter),
        theirMuxers: [mplex()]
      })
      const connection = await dial().catch(() => undefined)
      const stream = connection?.newStream(ECHO, EAGER).then(firstByte)

      await expect(stream ?? Promise.reject(new Error('The dial was rejected'))).to.eventually.be.rejected()
      await until(() => dialer.getConnections().length === 0, 'the connection is closed', 2_000)
      await left()
      expect(visits, 'no redial: the encrypter was agreed on').to.have.lengthOf(1)
    })
  }

  it('that the peer does not speak rejects the dial, if that takes long enough to notice', async () => {
    const { dial, dialer, visits } = await setUp({
      ours: encrypters['@libp2p/noise'],
      theirs: withoutEarlyMuxer(encrypters['@libp2p/noise']),
      theirMuxers: [mplex()],
      gater: {
        async denyOutboundEncryptedConnection () {
          await until(() => visits[0].socket.closed, 'the connection was given up')
          return false
        }
      }
    })

    await expect(dial()).to.eventually.be.rejectedWith('/yamux/1.0.0')
    expect(dialer.getConnections()).to.be.empty()
  })

  it('is presumed by a node that has our muxer, too', async () => {
    const { dial, counted } = await setUp({
      ours: encrypters['@libp2p/noise'],
      theirs: withoutEarlyMuxer(encrypters['@libp2p/noise']),
      ourMuxers: [yamux() as () => StreamMuxerFactory]
    })
    const connection = await dial()
    const streams = await Promise.all(Array.from({ length: 5 }, async () => connection.newStream(ECHO, EAGER)))

    expect(await Promise.all(streams.map(firstByte))).to.deep.equal([42, 42, 42, 42, 42])
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('leaves services that depend on one encrypter what they depend on', async () => {
    await bareNode(defer, {
      transports: [tcp()],
      connectionEncrypters: [optimistic(noise())],
      streamMuxers: [yamux()],
      services: { choosy: () => ({ [serviceDependencies]: ['@libp2p/noise', '@libp2p/connection-encryption', '@libp2p/stream-multiplexing'] }) }
    })
  })

  it('is left to the handshake on inbound connections', async () => {
    const plain = encrypters['@libp2p/noise']
    const listener = await bareNode(defer, {
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [optimistic(noise())],
      streamMuxers: [stockYamux()]
    })
    await listener.handle(ECHO, echo)

    for (const encrypter of [plain, withoutEarlyMuxer(plain)]) {
      const dialer = await bareNode(defer, { transports: [tcp()], connectionEncrypters: [encrypter], streamMuxers: [stockYamux()] })
      const connection = await dialer.dial(listener.getMultiaddrs())

      expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
    }
  })
})
