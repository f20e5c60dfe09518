import { generateKeyPair } from '@libp2p/crypto/keys'
import { noise } from '@libp2p/noise'
import { plaintext } from '@libp2p/plaintext'
import { tcp as officialTcp } from '@libp2p/tcp'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { tcp } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { untilStill } from '../fixtures/waiting.ts'
import { portOf } from './fixtures/dialer.ts'
import { NOISE, TLS } from './fixtures/proposals.ts'
import { relayTo, remote } from './fixtures/remote.ts'
import { ECHO, EAGER, bareNode, echoNode, firstByte } from './fixtures/stacks.ts'
import type { PrivateKey } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

type Transports = NonNullable<Libp2pOptions['transports']>

describe('with optimistic: false and the stock muxer the bytes on the wire are those of @libp2p/tcp', () => {
  const defer = cleanUpAfterEach()
  let keys: PrivateKey[]

  before(async () => {
    keys = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519')]
  })

  const transports: Record<string, () => Transports> = {
    ours: () => [tcp({ optimistic: false })],
    official: () => [officialTcp()]
  }

  /** A pingless yamux, so that each run says the same */
  const streamMuxers = [yamux({ enableKeepAlive: false })]

  interface Recording {
    sent: Uint8Array
    received: Uint8Array

    /** What was sent before the first answer */
    unasked: Uint8Array
  }

  /** A whole visit: dial, a stream, a byte there and back, close of the stream and of the connection */
  async function record (dials: Transports, listens: Transports, encrypters: Libp2pOptions['connectionEncrypters']): Promise<Recording> {
    const parts = { connectionEncrypters: encrypters, streamMuxers }
    const listener = await echoNode(defer, '127.0.0.1', { ...parts, transports: listens, privateKey: keys[0] })
    const received: Buffer[] = []
    let unasked: Uint8Array | undefined
    const { addr, left, visits } = await remote(defer, [relayTo(portOf(listener), async (bytes, write) => {
      if (unasked == null) {
        // so that whoever does not wait for the answer shows it
        await untilStill(() => visits[0].received.byteLength)
        unasked = visits[0].received
      }

      received.push(bytes)
      await write(bytes)
    })])
    const node = await bareNode(defer, { ...parts, transports: dials, privateKey: keys[1] })
    const connection = await node.dial(multiaddr(addr))
    const stream = await connection.newStream(ECHO, EAGER)

    expect(await firstByte(stream)).to.equal(42)

    const closed = pEvent(stream, 'close')
    await stream.close()
    await closed
    await connection.close()
    await left()

    return { sent: visits[0].received, received: Buffer.concat(received), unasked: unasked ?? new Uint8Array() }
  }

  it('from the first to the last byte, where nothing is encrypted', async () => {
    const ours = await record(transports.ours(), transports.official(), [plaintext()])
    const official = await record(transports.official(), transports.official(), [plaintext()])

    expect(official.sent.byteLength).to.be.above(200)
    expect(ours.unasked).to.equalBytes(official.unasked)
    expect(ours.sent).to.equalBytes(official.sent)
    expect(ours.received).to.equalBytes(official.received)
  })

  it('from the first to the last byte of the listener, where nothing is encrypted', async () => {
    const ours = await record(transports.official(), transports.ours(), [plaintext()])
    const official = await record(transports.official(), transports.official(), [plaintext()])

    expect(ours.sent).to.equalBytes(official.sent)
    expect(ours.received).to.equalBytes(official.received)
  })

  for (const [name, encrypter, proposal] of [['Noise', noise(), NOISE], ['TLS', tls(), TLS]] as const) {
    it(`up to the first message of ${name}, and as many from there on`, async () => {
      const ours = await record(transports.ours(), transports.official(), [encrypter])
      const official = await record(transports.official(), transports.official(), [encrypter])

      for (const { unasked, sent, received } of [ours, official]) {
        expect(unasked, 'sent before the answer').to.equalBytes(proposal)
        expect(sent.subarray(0, proposal.byteLength)).to.equalBytes(proposal)
        expect(received.subarray(0, proposal.byteLength)).to.equalBytes(proposal)
      }

      if (name === 'Noise') {
        expect(ours.sent).to.have.lengthOf(official.sent.byteLength)
        expect(ours.received).to.have.lengthOf(official.received.byteLength)
        // the length of the first message
        expect(ours.sent.subarray(28, 30)).to.equalBytes(official.sent.subarray(28, 30))
      }
    })
  }
})
