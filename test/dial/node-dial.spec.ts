import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { reusePort } from '../../src/nat/index.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { hasLoopbackNetwork } from '../fixtures/machine.ts'
import { ECHO, createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import { itIf, skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import { NA } from '../negotiation/fixtures/proposals.ts'
import { relayTo, remote, reply } from '../negotiation/fixtures/remote.ts'
import type { NodeDialEvents, PortUse, TCPDialOptions } from '../../src/index.ts'
import type { TestNode } from '../fixtures/node.ts'
import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

type DirectDialOptions = Pick<TCPDialOptions, 'signal' | 'localAddress' | 'reusePort'> & { onProgress?(event: NodeDialEvents): void }

/*
 * What reaches the transport from libp2p, and comes back. The types count as much: this file fails `tsc` where a
 * handler of these events would
 */
describe('a dial by libp2p', () => {
  const defer = cleanUpAfterEach()
  let listener: TestNode
  let dialer: TestNode
  let dialDirectly: (ma: Multiaddr, options: DirectDialOptions) => Promise<Connection>

  skipUnless(canReusePort)

  beforeEach(async () => {
    listener = await createNode(defer, { listen: true })
    dialer = await createNode(defer, {
      listen: true,
      tcp: { reusePort: reusePort() },
      services: {
        direct: ({ transportManager }) => {
          dialDirectly = async (ma, options) => transportManager.dial(ma, options)
        }
      }
    })
  })

  const dials: Record<string, (onProgress: (event: NodeDialEvents) => void) => Promise<unknown>> = {
    'node.dial': async onProgress => dialer.dial(listener.getMultiaddrs(), { onProgress }),
    'node.dialProtocol': async onProgress => dialer.dialProtocol(listener.getMultiaddrs(), ECHO, { onProgress }),
    'transportManager.dial': async onProgress => dialDirectly(listener.getMultiaddrs()[0], { onProgress, signal: AbortSignal.timeout(5_000) })
  }

  for (const [name, dial] of Object.entries(dials)) {
    it(`tells the events of the transport to onProgress of ${name}, with their types`, async () => {
      const ports: PortUse[] = []
      let opened = 0

      await dial(event => {
        if (event.type === 'tcp:local-port') {
          ports.push(event.detail)
        } else if (event.type === 'tcp:open-connection') {
          opened++
        }
      })

      expect(ports).to.deep.equal(['reused'])
      expect(opened).to.equal(1)
    })
  }

  it('tells that the peer is dialed again', async () => {
    const { addr } = await remote(defer, [reply(NA), relayTo(portOf(listener.getMultiaddrs()[0]))])

    let redials = 0

    await dialer.dial(multiaddr(addr), {
      onProgress: (event: NodeDialEvents) => {
        if (event.type === 'tcp:redial') {
          redials++
        }
      }
    })

    expect(redials).to.equal(1)
  })

  itIf(hasLoopbackNetwork, 'all of 127.0.0.0/8')('hands on options of this dial from transportManager.dial', async () => {
    await dialDirectly(listener.getMultiaddrs()[0], { reusePort: false, localAddress: '127.0.0.42', signal: AbortSignal.timeout(5_000) })

    expect(await remoteAddress()).to.match(/^\/ip4\/127\.0\.0\.42\/tcp\/\d+$/)
  })

  itIf(hasLoopbackNetwork, 'all of 127.0.0.0/8')('hands on none of them from node.dial: libp2p drops them', async () => {
    const options = { reusePort: false, localAddress: '127.0.0.42' }
    await dialer.dial(listener.getMultiaddrs(), options as object)

    expect(await remoteAddress()).to.equal(`/ip4/127.0.0.1/tcp/${portOf(dialer.getMultiaddrs()[0])}`)
  })

  /** Where the dialer comes from, as the listener sees it */
  async function remoteAddress (): Promise<string> {
    await until(() => listener.getConnections().length === 1, 'the listener has the connection')

    return listener.getConnections()[0].remoteAddr.toString().replace(/\/p2p\/.*/, '')
  }
})
