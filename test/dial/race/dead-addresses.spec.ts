import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../fixtures/cleanup.ts'
import { hasSilence } from '../../fixtures/machine.ts'
import { createNode } from '../../fixtures/node.ts'
import { portOf } from '../../fixtures/raw.ts'
import { itIf } from '../../fixtures/skip.ts'
import { closingPort, countSockets, mutePort, refusedPort, resettingPort, silentPorts, strangerPort, tarpitPort } from './fixtures/addresses.ts'
import { liveNode } from './fixtures/live-node.ts'
import type { TestNode } from '../../fixtures/node.ts'

/*
 * Times have an upper bound that is far below what libp2p takes for one silent address (6 s), and far above what the race
 * takes: machines are busy
 */
const SOON = 3_000

describe('a dial of a peer with dead addresses', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()
  const live = liveNode(defer)
  let dialer: TestNode

  beforeEach(async () => { dialer = await createNode(defer) })

  /** The dead ones first */
  async function dialAll (dead: number[]): Promise<number> {
    const start = performance.now()
    const connection = await dialer.dial(live.at([...dead, live.port]))

    expect(portOf(connection.remoteAddr)).to.equal(live.port)
    expect(connection.remotePeer.toString()).to.equal(live.node.peerId.toString())

    return performance.now() - start
  }

  for (const count of [0, 1, 2, 6, 20]) {
    itIf(hasSilence)(`finds the live one behind ${count} silent ones`, async () => {
      expect(await dialAll(await silentPorts(defer, count))).to.be.below(SOON)
    })
  }

  const kinds = { refused: refusedPort, resetting: resettingPort, closing: closingPort, mute: mutePort, tarpit: tarpitPort, stranger: strangerPort }

  for (const [kind, portOfKind] of Object.entries(kinds)) {
    for (const count of [1, 2, 6, 20]) {
      it(`finds the live one behind ${count} of kind ${kind}`, async () => {
        const ports = await Promise.all(Array.from({ length: count }, async () => portOfKind(defer)))

        expect(await dialAll(ports)).to.be.below(SOON)
      })
    }
  }

  itIf(hasSilence)('dials the address that worked the next time, and no other', async () => {
    const ports = await silentPorts(defer, 2)
    await dialAll(ports)
    await dialer.hangUp(live.node.peerId)

    const { sockets } = countSockets(defer)
    await dialAll(ports)

    expect(sockets).to.have.lengthOf(1)
  })
})
