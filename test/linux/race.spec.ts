import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { linux } from '../../src/linux/index.ts'
import { reusePort } from '../../src/nat/index.ts'
import { addressOf, countSockets, mutePort, refusedPort, resettingPort, silentPorts, strangerPort } from '../dial/race/fixtures/addresses.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { rawTransport, portOf } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until } from '../fixtures/waiting.ts'
import { openProxy } from '../lab/link/proxy.ts'
import { canListen } from './fixtures/availability.ts'
import type { TCPOptions } from '../../src/index.ts'

const modes: Record<string, () => TCPOptions> = {
  reusePort: () => ({ reusePort: reusePort() }),
  'linux()': () => ({ linux: linux() }),
  fastOpen: () => ({ linux: linux({ fastOpen: true }) }),
  'linux() and reusePort': () => ({ linux: linux(), reusePort: reusePort() }),
  'fastOpen and reusePort': () => ({ linux: linux({ fastOpen: true }), reusePort: reusePort() })
}

for (const [mode, tcp] of Object.entries(modes)) {
  describe(`a dial of a peer with dead addresses, with ${mode}`, function () {
    this.timeout(20_000)

    const defer = cleanUpAfterEach()

    skipUnless((mode === 'reusePort' || canListen) && (!mode.includes('reusePort') || canReusePort))

    const all = {
      refused: async () => [await refusedPort(), await refusedPort()],
      resetting: async () => [await resettingPort(defer), await resettingPort(defer)],
      silent: async () => silentPorts(defer, 2),
      mute: async () => [await mutePort(defer), await mutePort(defer)],
      stranger: async () => [await strangerPort(defer), await strangerPort(defer)],
      mixed: async () => [...await silentPorts(defer, 2), await refusedPort(), await mutePort(defer), await strangerPort(defer), await resettingPort(defer)]
    }

    // which addresses are dead matters to the race, which is the same in every mode: test/dial/race has each kind
    const kinds = isThorough ? Object.entries(all) : Object.entries(all).slice(-1)

    for (const [kind, makePorts] of kinds) {
      for (const host of ['/ip4/127.0.0.1', '/dns4/localhost']) {
        it(`finds the live one behind two that are ${kind}, at ${host}, and the second time at once`, async () => {
          const live = await createNode(defer, { listen: true, tcp: tcp() })
          // its listening port is what it dials from with reusePort
          const dialer = await createNode(defer, { listen: true, tcp: tcp() })
          const livePort = portOf(live.getMultiaddrs()[0])
          const addresses = [...await makePorts(), livePort].map(port => addressOf(port, live.peerId, host))
          const { sockets } = countSockets(defer)
          const start = performance.now()
          const first = await dialer.dial(addresses)

          expect(portOf(first.remoteAddr)).to.equal(livePort)
          // libp2p gives one silent address 6 s; machines are busy
          expect(performance.now() - start).to.be.below(3_000)
          await dialer.hangUp(live.peerId)

          const second = await dialer.dial(addresses)

          expect(portOf(second.remoteAddr)).to.equal(livePort)
          await dialer.stop()
          await until(() => sockets.every(({ destroyed }) => destroyed), 'no socket is left')
        })
      }
    }
  })
}

/** Of these tests alone: they give each of its listeners Fast Open */
const isOwnNamespace = process.env.OWN_NAMESPACE === 'true' && canListen

describe(`a dial of a peer whose first SYN carries data${isOwnNamespace ? '' : ' (SKIPPED: this is no network namespace of its own)'}`, function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  skipUnless(isOwnNamespace)

  it('goes on with the address that has answered when another one connects', async () => {
    execFileSync('sysctl', ['-qw', 'net.ipv4.tcp_fastopen=1027'])

    const tcp = { linux: linux({ fastOpen: true }), optimistic: false }
    const live = await createNode(defer, { listen: true })
    const livePort = portOf(live.getMultiaddrs()[0])
    const proxy = await openProxy({ target: { host: '127.0.0.1', port: livePort }, up: { delay: 300 }, down: { delay: 300 } })
    defer(async () => proxy.close())
    const far = addressOf(proxy.port, live.peerId)
    const near = addressOf(livePort, live.peerId)
    let asked = 0
    const dialer = await createNode(defer, {
      tcp,
      connectionGater: {
        async denyDialMultiaddr (ma) {
          // libp2p asks first, and then the race. Meanwhile the other one answers, and needs a round trip more
          if (portOf(ma) === livePort && ++asked === 2) {
            await delay(750)
          }

          return false
        }
      }
    })
    const cookie = await rawTransport(defer, tcp).dial(`/ip4/127.0.0.1/tcp/${livePort}`)
    await cookie.close()

    const connection = await dialer.dial([far, near])

    expect(asked).to.equal(2)
    expect(portOf(connection.remoteAddr)).to.equal(proxy.port)
  })
})
