import { stat } from 'node:fs/promises'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../fixtures/cleanup.ts'
import { hasSilence } from '../../fixtures/machine.ts'
import { createNode } from '../../fixtures/node.ts'
import { rawPeer } from '../../fixtures/peers.ts'
import { portOf, rawTransport } from '../../fixtures/raw.ts'
import { skipUnless } from '../../fixtures/skip.ts'
import { until } from '../../fixtures/waiting.ts'
import { addressOf, countSockets, mutePort, silentPorts, somePeerId } from './fixtures/addresses.ts'

describe('what the end of a race tells', () => {
  const defer = cleanUpAfterEach()

  skipUnless(hasSilence)

  it('is a TCPConnectError with the cause NotStartedError if the transport stops, as for one address', async () => {
    const { dial, transport } = rawTransport(defer)
    const peer = await somePeerId()
    const addresses = (await silentPorts(defer, 2)).map(port => addressOf(port, peer))
    // libp2p asks about all addresses of a dial in one turn
    addresses.forEach(ma => transport.dialFilter([ma]))
    await Promise.resolve()
    const { sockets } = countSockets(defer)
    const dials = [dial(addresses[0]), dial(`/ip4/127.0.0.1/tcp/${portOf(addresses[1])}`)].map(async dial => dial.then(() => {}, err => err))
    await until(() => sockets.length === 3, 'both addresses of the race and the one alone are dialed')
    await transport.stop?.()

    for (const err of await Promise.all(dials)) {
      expect(err).to.have.property('name', 'ConnectionFailedError')
      expect(err.cause).to.have.property('name', 'NotStartedError')
    }
  })

  it('is a TimeoutError for an address that connected and never spoke', async () => {
    const dialer = await createNode(defer, { connectionManager: { addressDialTimeout: 1_000 } })
    const peer = await somePeerId()
    const err: any = await dialer.dial([await mutePort(defer), await mutePort(defer)].map(port => addressOf(port, peer))).then(() => {}, err => err)

    expect(err.errors[1]).to.have.property('name', 'TimeoutError')
    expect(err.errors[1].message).to.match(/connected, and was not upgraded for \d+ ms/)
  })

  it('is not that an address is dead that another one overtook', async () => {
    const [silent] = await silentPorts(defer, 1)
    const peers = await Promise.all([1, 2].map(async () => createNode(defer, { listen: true })))
    const dialer = await createNode(defer)

    for (const peer of peers) {
      const { sockets } = countSockets(defer)
      await dialer.dial([silent, portOf(peer.getMultiaddrs()[0])].map(port => addressOf(port, peer.peerId)))

      // the second peer's comes first again
      expect(sockets).to.have.lengthOf(2)
    }
  })
})

describe('the option timeout', () => {
  const defer = cleanUpAfterEach()

  it('ends no dial whose peer has answered while the event loop was busy', async () => {
    const { addr } = await rawPeer(defer)
    const { dial } = rawTransport(defer, { dialOpts: { timeout: 100 } })

    // the dial begins where the event loop polls: what it defers runs before the loop polls again
    await stat('.')
    await dial(addr, {
      onProgress: ({ type }) => {
        type === 'tcp:open-connection' && setImmediate(() => {
          for (const until = performance.now() + 200; performance.now() < until;) {
            // busy
          }
        })
      }
    })
  })
})
