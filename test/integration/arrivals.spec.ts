import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { bareNode, stacks } from '../negotiation/fixtures/stacks.ts'
import type { Libp2pOptions } from 'libp2p'

const ARRIVALS = 40

/** docs/operations.md explains both */
describe(`a node at which ${ARRIVALS} peers of one host arrive at once`, function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  async function accepted (connectionManager: Libp2pOptions['connectionManager']): Promise<number> {
    const node = await createNode(defer, { listen: true, connectionManager })
    const peers = await Promise.all(Array.from({ length: ARRIVALS }, async () => bareNode(defer, stacks['all of ours']())))
    const dials = await Promise.allSettled(peers.map(async peer => peer.dial(node.getMultiaddrs())))

    return dials.filter(({ status }) => status === 'fulfilled').length
  }

  it('accepts five in a second with the limits that libp2p has by default', async () => {
    const begin = performance.now()
    const count = await accepted({ inboundConnectionThreshold: 5, maxIncomingPendingConnections: 10 })
    const seconds = Math.ceil((performance.now() - begin) / 1_000)

    // beside other work the dials take more than a second
    expect(count).to.be.within(5, Math.min(5 * (seconds + 1), ARRIVALS - 1))
  })

  it('accepts all with limits that allow it', async () => {
    expect(await accepted({ inboundConnectionThreshold: ARRIVALS, maxIncomingPendingConnections: ARRIVALS })).to.equal(ARRIVALS)
  })
})
