import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../fixtures/cleanup.ts'
import { logLines } from '../../fixtures/log-lines.ts'
import { createNode } from '../../fixtures/node.ts'
import { portOf } from '../../fixtures/raw.ts'
import { until, within } from '../../fixtures/waiting.ts'
import { addressOf, countSockets, hasSilence, mutePort, refusedPort, silentPorts, somePeerId, strangerPort } from './fixtures/addresses.ts'
import type { TestNode } from '../../fixtures/node.ts'
import type { Connection, ConnectionGater } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

describe('addresses that are dialed at once', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()
  let live: TestNode
  let livePort: number

  before(function () {
    if (!hasSilence) {
      this.skip()
    }
  })

  beforeEach(async () => {
    live = await createNode(defer, { listen: true })
    livePort = portOf(live.getMultiaddrs()[0])
  })

  const at = (ports: number[]): Multiaddr[] => ports.map(port => addressOf(port, live.peerId))

  it('are never dialed for a caller who names one', async () => {
    const [silent] = await silentPorts(defer, 1)
    const dialer = await createNode(defer)
    await dialer.peerStore.patch(live.peerId, { multiaddrs: live.getMultiaddrs() })
    const { sockets } = countSockets(defer)

    await expect(dialer.dial(addressOf(silent, live.peerId), { signal: AbortSignal.timeout(700) })).to.eventually.be.rejected()
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
    const addresses = at([silent, livePort])
    const { sockets } = countSockets(defer)

    await dialer.isDialable(addresses)
    await expect(direct?.(addresses[0], { signal: AbortSignal.timeout(700) })).to.eventually.be.rejected()
    expect(sockets).to.have.lengthOf(1)
  })

  it('are dialed one after another with attemptDelay: false', async () => {
    const [silent] = await silentPorts(defer, 1)
    const dialer = await createNode(defer, { tcp: { attemptDelay: false }, connectionManager: { addressDialTimeout: 700 } })
    const start = performance.now()
    await dialer.dial(at([silent, livePort]))

    expect(performance.now() - start).to.be.at.least(690)
  })

  it('are one for each of two peers that are dialed in one tick', async () => {
    const other = await createNode(defer, { listen: true })
    const silent = await silentPorts(defer, 4)
    const dialer = await createNode(defer)
    const connections = await Promise.all([
      dialer.dial(at([silent[0], silent[1], livePort])),
      dialer.dial([silent[2], silent[3], portOf(other.getMultiaddrs()[0])].map(port => addressOf(port, other.peerId)))
    ])

    expect(connections.map(({ remotePeer }) => remotePeer.toString())).to.deep.equal([live.peerId.toString(), other.peerId.toString()])
    expect(connections.map(({ remoteAddr }) => portOf(remoteAddr))).to.deep.equal([livePort, portOf(other.getMultiaddrs()[0])])
  })

  it('are those of all records of a dnsaddr that name the peer', async () => {
    const silent = await silentPorts(defer, 2)
    const dialer = await createNode(defer, {
      connectionManager: {
        resolvers: {
          records: {
            canResolve: ma => ma.toString().startsWith('/dnsaddr/'),
            resolve: async () => [...at([...silent, livePort]), addressOf(livePort, await somePeerId())]
          }
        }
      }
    })
    const { sockets } = countSockets(defer)
    const connection = await dialer.dial(multiaddr(`/dnsaddr/example.com/p2p/${live.peerId}`))

    expect(portOf(connection.remoteAddr)).to.equal(livePort)
    expect(sockets).to.have.lengthOf(3)
  })

  it('are not siblings of another peer whose only address is dialed in the same tick', async () => {
    const dialer = await createNode(defer)
    const [silent] = await silentPorts(defer, 1)
    const peer = await somePeerId()
    const lone = dialer.dial(addressOf(silent, peer), { signal: AbortSignal.timeout(700) })

    await Promise.all([
      dialer.dial(addressOf(livePort, live.peerId)),
      expect(lone).to.eventually.be.rejected()
    ])
  })

  it('cost a live first address nothing: one socket a dial', async () => {
    const dialer = await createNode(defer)
    const ports = [livePort, ...await silentPorts(defer, 3)]
    const { sockets } = countSockets(defer)

    for (let i = 0; i < 50; i++) {
      await dialer.dial(at(ports))
      await dialer.hangUp(live.peerId)
    }

    expect(sockets).to.have.lengthOf(50)
  })

  it('are not dialed because the event loop was busy while the first one answered', async () => {
    const dialer = await createNode(defer)
    const [silent] = await silentPorts(defer, 1)
    const { sockets } = countSockets(defer)

    await dialer.dial(at([livePort, silent]), {
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
    const ports = [...silent, livePort]
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
    await dialer.dial(at(ports))

    // libp2p has asked about all of them before
    const again = asked.slice(ports.length)
    expect(again.map(([port]) => port)).to.include(livePort)
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

          isOver = portOf(ma) === livePort

          return false
        }
      }
    })

    await within(3_000, 'the dial', dialer.dial(at([...silent, livePort])))
  })

  it('fail with one error that has each address and its reason', async () => {
    const dialer = await createNode(defer, { connectionManager: { addressDialTimeout: 1_000 } })
    const [silent] = await silentPorts(defer, 1)
    const ports = [silent, await refusedPort(), await refusedPort(), await mutePort(defer)]
    const { sockets } = countSockets(defer)
    const start = performance.now()
    const err: any = await dialer.dial(at(ports)).then(() => {}, err => err)

    expect(err.name).to.equal('AggregateError')
    expect(err.errors).to.have.lengthOf(4)
    // the first had libp2p's time for one address, in which the others were dialed too
    ports.forEach(port => { expect(err.errors[0].message).to.include(`/tcp/${port}/`) })
    expect(err.errors[1].code).to.equal('ECONNREFUSED')
    expect(err.errors[1].message).to.include(`:${ports[1]}`)
    expect(err.errors[2].message).to.include(`:${ports[2]}`)
    // a silent address and a mute one have a time of their own in libp2p
    expect(performance.now() - start).to.be.below(3_500)
    expect(sockets.length).to.be.at.most(12)
    expect(sockets.every(socket => socket.destroyed)).to.equal(true)
  })

  it('fail at once if all refuse, each dialed once', async () => {
    const dialer = await createNode(defer)
    const ports = await Promise.all(Array.from({ length: 5 }, async () => refusedPort()))
    const { sockets } = countSockets(defer)
    const err: any = await dialer.dial(at(ports)).then(() => {}, err => err)

    expect(err.errors.map(({ code }: any) => code)).to.deep.equal(ports.map(() => 'ECONNREFUSED'))
    expect(sockets).to.have.lengthOf(5)
  })

  it('leave no socket and no dial behind when the caller gives up', async () => {
    const dialer = await createNode(defer)
    const ports = [...await silentPorts(defer, 3), await mutePort(defer), await strangerPort(defer)]
    const { sockets } = countSockets(defer)

    for (const ms of [0, 5, 100, 260, 400, 600]) {
      const err: any = await dialer.dial(at(ports), { signal: AbortSignal.timeout(ms) }).then(() => {}, err => err)

      expect(err).to.have.property('name', 'TimeoutError')
      await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
    }

    const { length } = sockets
    await delay(600)
    expect(sockets).to.have.lengthOf(length)
  })

  it('leave no socket and no dial behind when the node stops', async () => {
    const ports = [...await silentPorts(defer, 3), await mutePort(defer)]
    const { sockets } = countSockets(defer)

    for (const ms of [0, 100, 300, 600]) {
      const dialer = await createNode(defer)
      const dialed = dialer.dial(at(ports)).then(() => {}, err => err)

      await delay(ms)
      await dialer.stop()
      expect(await within(1_000, 'the dial', dialed)).to.be.an('error')
      await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
    }

    const { length } = sockets
    await delay(600)
    expect(sockets).to.have.lengthOf(length)
  })

  it('are 25 at most, each dialed twice at most, however many the peer has', async () => {
    const dialer = await createNode(defer)
    const stranger = await strangerPort(defer)
    const mute = await mutePort(defer)
    const addresses = Array.from({ length: 1_000 }, (_, i) => multiaddr(`/ip4/127.0.${1 + Math.floor(i / 250)}.${1 + i % 250}/tcp/${i % 2 === 0 ? stranger : mute}/p2p/${live.peerId}`))
    const { sockets } = countSockets(defer)

    await expect(dialer.dial(addresses, { signal: AbortSignal.timeout(4_000) })).to.eventually.be.rejected()
    expect(sockets.length).to.be.at.least(20)
    expect(sockets.length).to.be.at.most(50)
  })

  it('wait for an answer with 32 sockets of the node at most, besides the first one of each dial', async () => {
    const dialer = await createNode(defer)
    const silent = await silentPorts(defer, 3)
    const peers = await Promise.all(Array.from({ length: 40 }, somePeerId))
    const { sockets } = countSockets(defer)

    const dials = peers.map(async peer => {
      await expect(dialer.dial(silent.map(port => addressOf(port, peer)), { signal: AbortSignal.timeout(3_000) })).to.eventually.be.rejected()
    })
    let most = 0
    const watch = setInterval(() => { most = Math.max(most, sockets.filter(({ destroyed }) => !destroyed).length) }, 10)

    await Promise.all(dials).finally(() => { clearInterval(watch) })

    expect(most).to.be.at.least(41)
    expect(most).to.be.at.most(72)
    await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
  })

  it('say in the log why the dial took long', async () => {
    const { logger, lines } = logLines(defer)
    const live = await createNode(defer, { listen: true, logger })
    const livePort = portOf(live.getMultiaddrs()[0])
    const dialer = await createNode(defer, { logger })
    const [silent] = await silentPorts(defer, 1)
    const refused = await refusedPort()

    await dialer.dial([silent, refused, livePort].map(port => addressOf(port, live.peerId)))
    const all = lines.join('\n')

    expect(all).to.match(new RegExp(`no connection after \\d+ ms, dialing .*/tcp/${refused}/.* too`))
    expect(all).to.match(new RegExp(`/tcp/${refused}/.* failed after \\d+ ms - .*ECONNREFUSED`))
    expect(all).to.match(new RegExp(`the dial to ${live.peerId} took \\d+ ms and 3 attempts, .*/tcp/${livePort}/.* was first`))
  })

  it('are each told to onProgress', async () => {
    const dialer = await createNode(defer)
    const [silent] = await silentPorts(defer, 1)
    let opened = 0

    await dialer.dial(at([silent, livePort]), {
      onProgress: event => { opened += (event.type as string) === 'tcp:open-connection' ? 1 : 0 }
    })
    expect(opened).to.equal(2)
  })
})
