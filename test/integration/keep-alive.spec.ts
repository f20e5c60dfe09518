import { generateKeyPair } from '@libp2p/crypto/keys'
import { KEEP_ALIVE } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import type { PeerId } from '@libp2p/interface'

describe('a peer tagged keep-alive', function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  it('is connected to again by itself after its process was killed and restarted', async () => {
    const { raw } = await generateKeyPair('Ed25519')
    const key = Buffer.from(raw).toString('base64')
    const node = await createNode(defer, {
      connectionManager: {
        reconnectRetries: 100,
        reconnectRetryInterval: 100,
        reconnectBackoffFactor: 1
      }
    })

    const peer = runChild(defer, 'keep-alive-peer.ts', [key, true])
    const addr = multiaddr(await peer.says())
    const { remotePeer } = await node.dial(addr)
    await node.peerStore.merge(remotePeer, {
      multiaddrs: [addr],
      tags: { [`${KEEP_ALIVE}-test`]: { value: 1 } }
    })
    await node.services.ping.ping(remotePeer)

    const disconnected = pEvent(node, 'peer:disconnect', { timeout: 10_000 })
    peer.kill()
    const { detail } = await disconnected as CustomEvent<PeerId>
    expect(detail.toString()).to.equal(remotePeer.toString())

    const connected = pEvent(node, 'peer:connect', { timeout: 30_000 })
    const again = runChild(defer, 'keep-alive-peer.ts', [key, portOf(addr)])
    expect(await again.says()).to.equal(addr.toString())

    const { detail: reconnected } = await connected as CustomEvent<PeerId>
    expect(reconnected.toString()).to.equal(remotePeer.toString())
    expect(await node.services.ping.ping(remotePeer)).to.be.at.least(0)
  })
})
