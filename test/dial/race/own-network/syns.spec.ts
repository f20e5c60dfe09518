import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../../fixtures/cleanup.ts'
import { createNode } from '../../../fixtures/node.ts'
import { portOf } from '../../../fixtures/raw.ts'
import { skipUnless } from '../../../fixtures/skip.ts'
import { isThorough } from '../../../fixtures/thorough.ts'
import { addressOf, countSockets, resettingPort, somePeerId, strangerPort } from '../fixtures/addresses.ts'
import { NETWORKS, isOwnNetwork, sentSyns } from '../fixtures/own-network.ts'
import type { TestNode } from '../../../fixtures/node.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/** How often the kernel sends a SYN in libp2p's 6 s for an address: once a second at most */
const MOST_SYNS = 7

const DIALS = isThorough ? 1_000 : 100

describe(`the SYNs of a dial${isOwnNetwork ? '' : ' (SKIPPED: this is no network of its own)'}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(isOwnNetwork)

  const many = (network: keyof typeof NETWORKS, port: number, peer: { toString(): string }): Multiaddr[] => (
    Array.from({ length: 250 }, (_, i) => addressOf(port, peer, `/ip4/${NETWORKS[network]}.${1 + i}`))
  )

  /** 1,000 addresses of one peer */
  const thousand = (network: keyof typeof NETWORKS, ports: number[], peer: { toString(): string }): Multiaddr[] => ports.flatMap(port => many(network, port, peer))

  it(`are ${DIALS} for ${DIALS} dials of a peer whose first address is live`, async () => {
    const live = await liveNode()
    const dialer = await createNode(defer)
    const addresses = [
      addressOf(portOf(live.getMultiaddrs()[0]), live.peerId, `/ip4/${NETWORKS.live}.1`),
      ...many('silent', 4001, live.peerId).slice(0, 5)
    ]
    const before = sentSyns()

    for (let i = 0; i < DIALS; i++) {
      await dialer.dial(addresses)
      await dialer.hangUp(live.peerId)
    }

    expect(sentSyns() - before).to.equal(DIALS)
  }).timeout(180_000)

  it('are one for the second dial of a peer whose first two addresses are silent', async () => {
    const live = await liveNode()
    const dialer = await createNode(defer)
    const addresses = [
      ...many('silent', 4001, live.peerId).slice(0, 2),
      addressOf(portOf(live.getMultiaddrs()[0]), live.peerId, `/ip4/${NETWORKS.live}.1`)
    ]

    await dialer.dial(addresses)
    await dialer.hangUp(live.peerId)
    const before = sentSyns()
    await dialer.dial(addresses)

    expect(sentSyns() - before).to.equal(1)
  })

  it('go to 25 addresses of a peer that has 1,000, if all are silent', async () => {
    const dialer = await createNode(defer)
    const { sockets } = countSockets(defer)
    const before = sentSyns()

    await expect(dialer.dial(thousand('silent', [1, 2, 3, 4], await somePeerId()))).to.eventually.be.rejected()
    expect(sockets).to.have.lengthOf(25)
    expect(sentSyns() - before).to.be.within(25, 25 * MOST_SYNS)
  }).timeout(30_000)

  it('are 50 at most for a peer that has 1,000 addresses, all of which reset connections or have other peers', async () => {
    const dialer = await createNode(defer)
    const ports = await Promise.all([resettingPort(defer, '0.0.0.0'), strangerPort(defer, '0.0.0.0'), resettingPort(defer, '0.0.0.0'), strangerPort(defer, '0.0.0.0')])
    const before = sentSyns()

    await expect(dialer.dial(thousand('live', ports, await somePeerId()))).to.eventually.be.rejected()
    expect(sentSyns() - before).to.be.within(25, 50)
  }).timeout(30_000)

  async function liveNode (): Promise<TestNode> {
    return createNode(defer, { addresses: { listen: ['/ip4/0.0.0.0/tcp/0'] } })
  }
})
