import { createNode } from '../../fixtures/node.ts'
import { portOf } from '../../fixtures/raw.ts'
import { percentile } from '../../lab/statistics.ts'
import { beginAttack } from './attack.ts'
import type { Scenario } from '../scenario.ts'

const SOCKETS = 1_000

/** So they come and, by the deadline, so they go */
const PER_SECOND = 200

/** libp2p's default, in ms */
const DEADLINE = 10_000

/** How much later they may be gone: their process has to start, and both are busy */
const SLACK = 10_000

/** Honest dials to compare with */
const DIALS = 200

/** The p99 of an honest dial may become so many times as long, unless that is ... */
const MAX_RATIO = 2

/** ... less than this longer: on a busy machine there is a pause in every second, in ms */
const NOISE = 50

export const slowloris: Scenario = {
  name: `${SOCKETS.toLocaleString('en')} peers from ten addresses that send a byte a second instead of a handshake`,
  runs: 2,
  timeout: 120_000,
  async prepare () {
    return async ({ defer, injected, measured }) => {
      const listener = await createNode(defer, {
        listen: true,
        connectionManager: { maxIncomingPendingConnections: 2 * SOCKETS }
      })
      const honest = await createNode(defer)

      async function dial (): Promise<number> {
        const begin = performance.now()
        await honest.dial(listener.getMultiaddrs())
        const ms = performance.now() - begin

        await honest.hangUp(listener.peerId)

        return ms
      }

      const before: number[] = []

      while (before.length < 2 * DIALS) {
        before.push(await dial())
      }

      const begin = performance.now()
      const status = beginAttack(defer, { behaviour: 'slowloris', port: portOf(listener.getMultiaddrs()[0]), connections: SOCKETS, perSecond: PER_SECOND })
      const during: number[] = []

      injected(SOCKETS)

      let most = 0
      let attacked = await status()

      while (attacked.connected < SOCKETS || attacked.open > 0) {
        if (performance.now() - begin > 1_000 * SOCKETS / PER_SECOND + DEADLINE + SLACK) {
          throw new Error(`${attacked.open} attackers are still there`)
        }

        for (let i = 0; i < 10; i++) {
          during.push(await dial())
        }

        attacked = await status()
        most = Math.max(most, attacked.open)
      }

      if (during.length < DIALS) {
        throw new Error(`only ${during.length} honest dials went through meanwhile`)
      }

      // the first half fills the caches
      const [calm, troubled] = [before.slice(DIALS), during].map(samples => percentile(samples, 99))

      measured('ms until all were gone', performance.now() - begin)
      measured('p99 of a dial before, ms', calm)
      measured('p99 of a dial under attack, ms', troubled)
      measured('attackers at a time', most)

      if (troubled > MAX_RATIO * calm && troubled > calm + NOISE) {
        throw new Error(`an honest dial's p99 went from ${calm} to ${troubled} ms`)
      }
    }
  }
}
