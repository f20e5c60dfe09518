import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { holePunching, reusePort } from '../../src/nat/index.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import type { HolePunchEvents } from '../../src/nat/index.ts'
import type { TestNode, TestNodeOptions } from '../fixtures/node.ts'
import type { ConnectionGater, Startable } from '@libp2p/interface'

const PROTOCOL = '/test/punch/1.0.0'

/** A service that opens connections as that of `@libp2p/dcutr` does, to addresses that a peer names. NATs are in `npm run suite nat` */
function punchingTo (targets: string[]): (components: any) => Startable {
  return ({ registrar, connectionManager }) => ({
    async start () {
      await registrar.register(PROTOCOL, {})
      await registrar.handle(PROTOCOL, async () => {
        await connectionManager.openConnection(targets.map(target => multiaddr(target)), { force: true, signal: AbortSignal.timeout(1_000) }).catch(() => {})
      }, { runOnLimitedConnection: true })
    },
    stop: async () => registrar.unhandle(PROTOCOL)
  })
}

describe('holePunching(), to a peer that names addresses of others', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  /** Dials a peer over a relay, which has the service of this node punch to these addresses. Resolves to what came of it */
  async function punched (targets: string[], denied?: keyof ConnectionGater): Promise<HolePunchEvents> {
    const { promise, resolve } = Promise.withResolvers<HolePunchEvents>()
    let isPunching = false
    const relay = await createNode(defer, { listen: true, services: { relay: circuitRelayServer() } })
    const [relayAddress] = relay.getMultiaddrs()
    const create = async (options: TestNodeOptions = {}): Promise<TestNode> => createNode(defer, {
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0', `${relayAddress}/p2p-circuit`] },
      transports: [circuitRelayTransport()],
      ...options
    })
    const peer = await create()
    const node = await create({
      connectionGater: denied == null ? {} : { [denied]: async () => isPunching },
      tcp: { reusePort: reusePort() },
      services: {
        dcutr: holePunching(punchingTo(targets), {
          onProgress: event => {
            if (event.type === 'hole-punch:start') {
              isPunching = true
            } else {
              resolve(event)
            }
          }
        })
      }
    })

    await node.dial(multiaddr(`${relayAddress}/p2p-circuit/p2p/${peer.peerId}`))
    await until(() => peer.getConnections(node.peerId).length > 0, 'the peer has the relayed connection')
    await peer.getConnections(node.peerId)[0].newStream(PROTOCOL, { runOnLimitedConnection: true })

    return promise
  }

  it('sends SYNs to eight of them at most, and to no name and none of another peer', async () => {
    const others = await Promise.all(Array.from({ length: 20 }, async () => {
      const visits: unknown[] = []
      const { addr } = await rawPeer(defer, { onSocket: socket => { visits.push(socket) } })

      return { addr, visits }
    }))
    const strangers: unknown[] = []
    const stranger = await rawPeer(defer, { onSocket: socket => { strangers.push(socket) } })
    const event = await punched([
      `${stranger.addr}/p2p/12D3KooWEAs6SYmVFzFuxNL8ZYrNRxMdLEkrpeoXXMrDX6zhJbkz`,
      '/dns4/localhost/tcp/1',
      ...others.flatMap(({ addr }) => [addr, addr])
    ])

    expect(event.type).to.equal('hole-punch:failed')
    expect(others.filter(({ visits }) => visits.length > 0)).to.have.lengthOf(8)
    expect(strangers).to.be.empty()
  })

  for (const method of ['denyDialPeer', 'denyDialMultiaddr'] as const) {
    it(`dials nothing where the ${method} of the connection gater says so`, async () => {
      const visits: unknown[] = []
      const { addr } = await rawPeer(defer, { onSocket: socket => { visits.push(socket) } })
      const event = await punched([addr], method)

      expect(event.detail).to.have.property('reason', 'denied')
      expect(visits).to.be.empty()
    })
  }

  it('needs a transport with reusePort', async () => {
    await expect(createNode(defer, { services: { dcutr: holePunching(punchingTo([])) } })).to.eventually.be.rejected.with.property('name', 'InvalidParametersError')
  })
})
