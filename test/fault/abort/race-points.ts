import { addressOf, refusedPort, silentPorts, somePeerId, strangerPort } from '../../dial/race/fixtures/addresses.ts'
import { turns } from '../../fixtures/bytes.ts'
import { slowLookups } from '../../fixtures/slow-lookups.ts'
import { NA, NOISE } from '../../negotiation/fixtures/proposals.ts'
import { reply } from '../../negotiation/fixtures/remote.ts'
import { visiting } from './visiting.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { DialerOptions } from '../../negotiation/fixtures/dialer.ts'
import type { Behaviour } from '../../negotiation/fixtures/remote.ts'
import type { Context, Run } from '../scenario.ts'
import type { Visited } from './visiting.ts'
import type { ConnectionGater } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** Noise's first message behind its length */
const HANDSHAKE = 2 + 32

/** How many dials take all places of those that wait for an answer, with four addresses each */
const CROWD = 12

/** What is dialed, and when that is to end */
export interface Arranged {
  /** The addresses of each peer: all are dialed at once */
  dials: Multiaddr[][]
  gater?: ConnectionGater
  attemptDelay?: number
  connectionManager?: DialerOptions['connectionManager']

  /** Resolves where the dials are to end. `opened` resolves when so many attempts have begun */
  reached(opened: (attempts: number) => Promise<void>): Promise<unknown>

  /** What happens after the dials have ended */
  afterwards?(): unknown
}

/** Sets up what all runs share */
export type Point = (context: Context) => Promise<(run: Run) => Arranged | Promise<Arranged>>

export const points: Record<string, Point> = {
  'before it begins': silentPeer(2, async () => {}),
  'while the first address is silent': silentPeer(3, async opened => opened(1).then(async () => turns(5))),
  'while all are silent': silentPeer(3, async opened => opened(3).then(async () => turns(5))),
  'when one has failed': silentPeer(2, async opened => opened(2).then(async () => turns(5)), refusedPort),
  'when a stranger has failed, and the next begins': silentPeer(2, async opened => opened(2).then(async () => turns(5)), strangerPort),

  'while the gater is asked about the second': async ({ defer }) => {
    const silent = await silentPorts(defer, 3)

    return async () => {
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<boolean>()
      let calls = 0

      return {
        dials: [await ofOnePeer(silent)],
        gater: {
          denyDialMultiaddr: async () => {
            // libp2p has asked about all before
            if (++calls <= silent.length) {
              return false
            }

            asked.resolve()

            return answer.promise
          }
        },
        reached: async () => asked.promise,
        afterwards: async () => {
          const { length } = silent

          answer.resolve(false)
          await turns(20)

          if (calls > length + 1) {
            throw new Error('asked the gater about another address')
          }
        }
      }
    }
  },

  'while the second is looked up': async ({ defer }) => {
    const [silent] = await silentPorts(defer, 1)
    const hold = slowLookups(defer)

    return async () => {
      const release = hold()
      const peer = await somePeerId()

      return {
        dials: [[addressOf(silent, peer), addressOf(silent, peer, '/dns4/localhost')]],
        reached: async opened => opened(2).then(async () => turns(5)),
        afterwards: release
      }
    }
  },

  'while some wait for a place': async ({ defer }) => {
    const silent = await silentPorts(defer, 4)

    return async () => ({
      dials: await Promise.all(Array.from({ length: CROWD }, async () => ofOnePeer(silent))),
      // 32 places, and the first of each dial needs none
      reached: async opened => opened(CROWD + 32).then(async () => turns(20))
    })
  },

  'while the first that connected is silent': beside([() => {}], visited => visited(1, NOISE.byteLength)),
  'in its handshake': beside([reply(NOISE)], visited => visited(1, NOISE.byteLength + HANDSHAKE)),
  'while it is dialed again after a refusal': beside([reply(NA), () => {}], visited => visited(2, NOISE.byteLength)),

  'when libp2p has come to the second, and all are dialed again': async ({ defer }) => {
    const silent = await silentPorts(defer, 3)

    return async () => ({
      dials: [await ofOnePeer(silent)],
      // the third has begun by then, and has had too little time to count as failed
      attemptDelay: 200,
      connectionManager: { addressDialTimeout: 460 },
      reached: async opened => opened(4).then(async () => turns(5))
    })
  }
}

/** So many silent addresses, behind one that is not */
function silentPeer (count: number, reached: Arranged['reached'], first?: (defer: Defer) => Promise<number>): Point {
  return async ({ defer }) => {
    const silent = await silentPorts(defer, count)

    return async () => ({ dials: [await ofOnePeer([...first == null ? [] : [await first(defer)], ...silent])], reached })
  }
}

/** Addresses of a peer that is at none of them */
async function ofOnePeer (ports: number[]): Promise<Multiaddr[]> {
  const peer = await somePeerId()

  return ports.map(port => addressOf(port, peer))
}

/** Two silent addresses, and one that connects and then behaves so, the first time, the second time and so on */
function beside (behaviours: Behaviour[], reached: (visited: Visited) => Promise<void>): Point {
  return async ({ defer }) => {
    const silent = await silentPorts(defer, 2)

    return async run => {
      const { port, visited } = await visiting(run.defer, behaviours)

      return { dials: [await ofOnePeer([...silent, port])], reached: async () => reached(visited) }
    }
  }
}
