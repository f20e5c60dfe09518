import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { cleanUpAfterAll, cleaningUp } from '../../fixtures/cleanup.ts'
import { hasSilence } from '../../fixtures/machine.ts'
import { createNode } from '../../fixtures/node.ts'
import { portOf } from '../../fixtures/raw.ts'
import { isThorough } from '../../fixtures/thorough.ts'
import { until } from '../../fixtures/waiting.ts'
import { addressOf, closingPort, countSockets, mutePort, refusedPort, resettingPort, silentPorts, somePeerId, strangerPort, tarpitPort } from './fixtures/addresses.ts'
import type { TestNode } from '../../fixtures/node.ts'

const KINDS = ['silent', 'refused', 'resetting', 'closing', 'mute', 'tarpit', 'stranger', 'no-route'] as const

type Kind = typeof KINDS[number]

/** How many of each kind there are at most in a mixture */
const MOST = 3
const RUNS = isThorough ? 200 : 40
const SEED = 34

/** How many dials go on at a time, each by a node of its own */
const AT_ONCE = 8

describe('a dial of a peer with any mixture of dead addresses', function () {
  this.timeout(240_000)

  const defer = cleanUpAfterAll()
  const ports = new Map<Kind, number[]>()
  let live: TestNode

  before(async function () {
    if (!hasSilence) {
      this.skip()
    }

    const makers: Record<Exclude<Kind, 'silent' | 'no-route'>, () => Promise<number>> = {
      refused: refusedPort,
      resetting: async () => resettingPort(defer),
      closing: async () => closingPort(defer),
      mute: async () => mutePort(defer),
      tarpit: async () => tarpitPort(defer),
      stranger: async () => strangerPort(defer)
    }

    live = await createNode(defer, { listen: true })
    ports.set('silent', await silentPorts(defer, MOST))

    for (const [kind, make] of Object.entries(makers)) {
      ports.set(kind as Kind, await Promise.all(Array.from({ length: MOST }, make)))
    }
  })

  const mixture = fc.tuple(
    fc.uniqueArray(fc.tuple(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: MOST - 1 })), { selector: item => item.join(), maxLength: 10 }),
    fc.nat(),
    fc.boolean()
  )

  it(`finds the live one if there is one, and leaves nothing behind, in ${RUNS} mixtures of seed ${SEED}`, async () => {
    const { sockets } = countSockets(defer)
    const mixtures = fc.sample(mixture, { numRuns: RUNS, seed: SEED })
    const queue = [...mixtures.entries()]
    const failures: string[] = []

    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.shift(); next != null; next = queue.shift()) {
        const [run, [dead, position, isAlive]] = next

        await dialMixture(dead, position, isAlive).catch(err => { failures.push(`${run}: ${dead.map(([kind]) => kind).join()}, live ${isAlive ? position % (dead.length + 1) : 'nowhere'}: ${err.stack}`) })
      }
    }))

    expect(failures).to.deep.equal([])
    await until(() => sockets.every(socket => socket.destroyed), 'all sockets are destroyed')
  })

  async function dialMixture (dead: Array<[Kind, number]>, position: number, isAlive: boolean): Promise<void> {
    if (dead.length === 0 && !isAlive) {
      return
    }

    await cleaningUp(async defer => {
      const dialer = await createNode(defer, { tcp: { attemptDelay: 50 }, connectionManager: { addressDialTimeout: isAlive ? 6_000 : 300 } })
      const peer = isAlive ? live.peerId : await somePeerId()
      const addresses = dead.map(([kind, n]) => kind === 'no-route'
        ? addressOf(4001, peer, `/ip6/2a00::${1 + n}`)
        : addressOf(ports.get(kind)?.[n] ?? 0, peer))

      if (isAlive) {
        addresses.splice(position % (dead.length + 1), 0, addressOf(portOf(live.getMultiaddrs()[0]), peer))
      }

      const start = performance.now()
      const connection = await dialer.dial(addresses, { signal: AbortSignal.timeout(30_000) }).catch(err => err)

      if (isAlive) {
        expect(connection.remotePeer?.toString(), `${connection}`).to.equal(live.peerId.toString())
        // libp2p's time for one silent address
        expect(performance.now() - start).to.be.below(6_000)
      } else {
        expect(connection).to.be.an('error')
      }
    })
  }
})
