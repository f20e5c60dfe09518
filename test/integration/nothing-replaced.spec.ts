import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO, bareNode, echoNode, firstByte, stacks } from '../negotiation/fixtures/stacks.ts'
import type { StackName } from '../negotiation/fixtures/stacks.ts'

/** Names of the methods that an object has itself, and not from its class */
function ownMethods (object: object): string[] {
  return Reflect.ownKeys(object).filter(key => typeof Reflect.get(object, key) === 'function').map(String).sort()
}

describe('no member of an object that is not ours is replaced', () => {
  const defer = cleanUpAfterEach()

  /** The objects of libp2p, of the encrypter and of the muxer that a connection and a stream have to do with */
  async function objectsWith (stack: StackName): Promise<Record<string, object>> {
    const parts = stacks[stack]()
    const listener = await echoNode(defer)
    const dialer = await bareNode(defer, parts)
    const connection = await dialer.dial(listener.getMultiaddrs())
    const stream = await connection.newStream(ECHO)

    // what patches did at the first use
    await firstByte(stream)
    stream.send(new Uint8Array(1024 * 1024))

    // private, so only a test may look
    const { muxer, maConn, components } = connection as any
    const { upgrader, connectionManager, transportManager, registrar, peerStore } = components.components ?? components

    return { connection, stream, muxer, encrypted: maConn, upgrader, connectionManager, transportManager, registrar, peerStore, factory: upgrader?.getStreamMuxers().get('/yamux/1.0.0') }
  }

  it('with tcp() alone each has the methods of its own that it has with @libp2p/tcp', async () => {
    const official = await objectsWith('@libp2p/tcp 11')
    const ours = await objectsWith('tcp() alone')

    for (const [name, object] of Object.entries(official).filter(([, object]) => object != null)) {
      expect(ownMethods(ours[name]), name).to.deep.equal(ownMethods(object))
    }
  })

  it('with all of ours those of libp2p do, too', async () => {
    const official = await objectsWith('@libp2p/tcp 11')
    const ours = await objectsWith('all of ours')

    for (const name of ['connection', 'encrypted', 'upgrader', 'connectionManager', 'transportManager', 'registrar', 'peerStore'].filter(name => official[name] != null)) {
      expect(ownMethods(ours[name]), name).to.deep.equal(ownMethods(official[name]))
    }
  })
})
