import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../fixtures/cleanup.ts'
import { logLines } from '../../fixtures/log-lines.ts'
import { hasSilence, lookupOf, loopback6 } from '../../fixtures/machine.ts'
import { createNode } from '../../fixtures/node.ts'
import { portOf } from '../../fixtures/raw.ts'
import { skipUnless } from '../../fixtures/skip.ts'
import { until, untilStill, within } from '../../fixtures/waiting.ts'
import { addressOf, countSockets, refusedPort, silentPorts, somePeerId } from './fixtures/addresses.ts'
import { liveNode } from './fixtures/live-node.ts'
import type { Connection, ConnectionGater } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { LookupFunction } from 'node:net'

describe('addresses that are dialed at once', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()
  const live = liveNode(defer)

  skipUnless(hasSilence)

  it('are never dialed for a caller who names one', async () => {
    const [silent] = await silentPorts(defer, 1)
    const dialer = await createNode(defer)
    await dialer.peerStore.patch(live.node.peerId, { multiaddrs: live.node.getMultiaddrs() })
    const { sockets } = countSockets(defer)

    await expect(dialer.dial(addressOf(silent, live.node.peerId), { signal: AbortSignal.timeout(700) })).to.eventually.be.rejected()
    expect(sockets).to.have.lengthOf(1)
  })

  it('are never dialed for a direct call of the transport manager, although libp2p has asked about them', async () => {
    const [silent] = await silentPorts(defer, 1)
    let direct: ((ma: Multiaddr, options: object) => Promise<Connection>) | undefined
    const dialer = await createNode(defer, {
      services: {
        direct: ({ transportManager }) => {
          direct = async (ma, options) => transportManager.dial(ma, options)
        }
      }
    })
    const addresses = live.at([silent, live.port])
    const { sockets } = countSockets(defer)

    await dialer.isDialable(addresses)
    await expect(direct?.(addresses[0], { signal: AbortSignal.timeout(700) })).to.eventually.be.rejected()
    expect(sockets).to.have.lengthOf(1)
  })

  it('are dialed one after another with attemptDelay: false', async () => {
    const [silent] = await silentPorts(defer, 1)
    const dialer = await createNode(defer, { tcp: { attemptDelay: false }, connectionManager: { addressDialTimeout: 700 } })
    const start = performance.now()
    await dialer.dial(live.at([silent, live.port]))

    expect(performance.now() - start).to.be.at.least(690)
  })

  it('are one for each of two peers that are dialed in one tick', async () => {
    const other = await createNode(defer, { listen: true })
    const silent = await silentPorts(defer, 4)
    const dialer = await createNode(defer)
    const connections = await Promise.all([
      dialer.dial(live.at([silent[0], silent[1], live.port])),
      dialer.dial([silent[2], silent[3], portOf(other.getMultiaddrs()[0])].map(port => addressOf(port, other.peerId)))
    ])

    expect(connections.map(({ remotePeer }) => remotePeer.toString())).to.deep.equal([live.node.peerId.toString(), other.peerId.toString()])
    expect(connections.map(({ remoteAddr }) => portOf(remoteAddr))).to.deep.equal([live.port, portOf(other.getMultiaddrs()[0])])
  })

  it('are those of all records of a dnsaddr that name the peer', async () => {
    const silent = await silentPorts(defer, 2)
    const dialer = await createNode(defer, {
      connectionManager: {
        resolvers: {
          records: {
            canResolve: ma => ma.toString().startsWith('/dnsaddr/'),
            resolve: async () => [...live.at([...silent, live.port]), addressOf(live.port, await somePeerId())]
          }
        }
      }
    })
    const { sockets } = countSockets(defer)
    const connection = await dialer.dial(multiaddr(`/dnsaddr/example.com/p2p/${live.node.peerId}`))

    expect(portOf(connection.remoteAddr)).to.equal(live.port)
    expect(sockets).to.have.lengthOf(3)
  })

  it('are not siblings of another peer whose only address is dialed in the same tick', async () => {
    const dialer = await createNode(defer)
    const [silent] = await silentPorts(defer, 1)
    const peer = await somePeerId()
    const lone = dialer.dial(addressOf(silent, peer), { signal: AbortSignal.timeout(700) })

    await Promise.all([
      dialer.dial(addressOf(live.port, live.node.peerId)),
      expect(lone).to.eventually.be.rejected()
    ])
  })

  for (const families of [['dns4', 'dns6'], ['dns6', 'dns4']]) {
    it(`are two for a host of both families that is announced as ${families.join(' and ')}`, async function () {
      if (loopback6() == null) {
        return this.skip()
      }

      for (const [host, address] of [['/ip4/127.0.0.1', '127.0.0.1'], ['/ip6/::1', '::1']]) {
        const listener = await createNode(defer, { addresses: { listen: [`${host}/tcp/0`] } })
        const port = portOf(listener.getMultiaddrs()[0])
        const dialer = await createNode(defer, { tcp: { dialOpts: { lookup: lookupOf(['127.0.0.1', '::1']) } } })
        const connection = await dialer.dial(families.map(family => addressOf(port, listener.peerId, `/${family}/both.test`)))

        expect(connection.remoteAddr.toString()).to.include(address === '::1' ? '/dns6/' : '/dns4/')
      }
    })
  }

  it('are no more targets than addresses, though each name leads to hundreds', async () => {
    const port = await refusedPort()
    const many = Array.from({ length: 200 }, (_, i) => `127.0.1.${i + 1}`)
    const dialer = await createNode(defer, { tcp: { dialOpts: { lookup: lookupOf(many) } } })
    const names = Array.from({ length: 25 }, (_, i) => addressOf(port, live.node.peerId, `/dns4/name${i}.test`))
    const { sockets } = countSockets(defer)

    await expect(dialer.dial(names)).to.eventually.be.rejected()
    expect(sockets).to.have.lengthOf.within(25, 50)
    sockets.length = 0

    await expect(dialer.dial(names.slice(0, 1))).to.eventually.be.rejected()
    expect(sockets).to.have.lengthOf(25)
  })

  it('are looked up two at a time if they are names, since nothing cancels a look-up', async () => {
    const waiting: Array<() => void> = []
    let lookUps = 0
    const lookup: LookupFunction = (hostname, options, callback) => {
      lookUps++
      waiting.push(() => { callback(Object.assign(new Error(`no such name ${hostname}`), { code: 'ENOTFOUND' }), []) })
    }
    const dialer = await createNode(defer, { tcp: { attemptDelay: 10, dialOpts: { lookup } } })
    const names = Array.from({ length: 25 }, (_, i) => addressOf(live.port, live.node.peerId, `/dns4/tarpit${i}.test`))
    const dead = dialer.dial(names, { signal: AbortSignal.timeout(1_000) })

    // a name that has an answer makes room for the next one
    await until(() => waiting.length === 2, 'two wait')
    waiting.shift()?.()
    await until(() => lookUps === 3, 'the next one begins')
    await expect(dead).to.eventually.be.rejected()
    expect(lookUps).to.equal(3)

    // those whose dial is over are not looked up
    waiting.forEach(answer => { answer() })
    expect(await untilStill(() => lookUps)).to.equal(3)

    // an IP address does not wait for names
    await dialer.dial([...names.slice(0, 20), addressOf(live.port, live.node.peerId)])
  })

  it('cost a live first address nothing: one socket a dial', async () => {
    const dialer = await createNode(defer)
    const ports = [live.port, ...await silentPorts(defer, 3)]
    const { sockets } = countSockets(defer)

    for (let i = 0; i < 50; i++) {
      await dialer.dial(live.at(ports))
      await dialer.hangUp(live.node.peerId)
    }

    expect(sockets).to.have.lengthOf(50)
  })

  it('are not dialed because the event loop was busy while the first one answered', async () => {
    const dialer = await createNode(defer)
    const [silent] = await silentPorts(defer, 1)
    const { sockets } = countSockets(defer)

    await dialer.dial(live.at([live.port, silent]), {
      onProgress: event => {
        if ((event.type as string) === 'tcp:open-connection') {
          setImmediate(() => {
            const until = performance.now() + 400

            while (performance.now() < until) {
              // busy
            }
          })
        }
      }
    })

    expect(sockets).to.have.lengthOf(1)
  })

  it('are asked of the connection gater, each before its first packet', async () => {
    const silent = await silentPorts(defer, 3)
    const ports = [...silent, live.port]
    const { sockets } = countSockets(defer)
    const asked: Array<[port: number, sockets: number]> = []
    const gater: ConnectionGater = {
      denyDialMultiaddr: async ma => {
        asked.push([portOf(ma), sockets.length])
        await delay(5)

        return portOf(ma) === silent[1] && sockets.length > 0
      }
    }
    const dialer = await createNode(defer, { connectionGater: gater })
    await dialer.dial(live.at(ports))

    // libp2p has asked about all of them before
    const again = asked.slice(ports.length)
    expect(again.map(([port]) => port)).to.include(live.port)
    expect(again.map(([port]) => port)).to.not.include(silent[0])
    expect(again[0]).to.deep.equal([silent[1], 1])
    expect(sockets.map(({ remotePort }) => remotePort)).to.not.include(silent[1])
    expect(sockets).to.have.lengthOf(again.length)
  })

  it('are found although the connection gater does not answer about one of them', async () => {
    const silent = await silentPorts(defer, 2)
    let isOver = false
    const dialer = await createNode(defer, {
      connectionGater: {
        denyDialMultiaddr: async ma => {
          if (isOver && portOf(ma) === silent[1]) {
            return new Promise<boolean>(() => {})
          }

          isOver = portOf(ma) === live.port

          return false
        }
      }
    })

    await within(3_000, 'the dial', dialer.dial(live.at([...silent, live.port])))
  })

  it('say in the log why the dial took long', async () => {
    const { logger, lines } = logLines(defer)
    const peer = await createNode(defer, { listen: true, logger })
    const port = portOf(peer.getMultiaddrs()[0])
    const dialer = await createNode(defer, { logger })
    const [silent] = await silentPorts(defer, 1)
    const refused = await refusedPort()

    await dialer.dial([silent, refused, port].map(port => addressOf(port, peer.peerId)))
    const all = lines.join('\n')

    expect(all).to.match(new RegExp(`no connection after \\d+ ms, dialing .*/tcp/${refused}/.* too`))
    expect(all).to.match(new RegExp(`/tcp/${refused}/.* failed after \\d+ ms - .*ECONNREFUSED`))
    expect(all).to.match(new RegExp(`the dial to ${peer.peerId} took \\d+ ms and 3 attempts, .*/tcp/${port}/.* was first`))
  })

  it('are each told to onProgress', async () => {
    const dialer = await createNode(defer)
    const [silent] = await silentPorts(defer, 1)
    let opened = 0

    await dialer.dial(live.at([silent, live.port]), {
      onProgress: event => { opened += (event.type as string) === 'tcp:open-connection' ? 1 : 0 }
    })
    expect(opened).to.equal(2)
  })
})
