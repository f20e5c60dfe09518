import { getEventListeners } from 'node:events'
import { addressOf, countSockets, refusedPort, silentPorts, somePeerId, strangerPort } from '../../dial/race/fixtures/addresses.ts'
import { turns } from '../../fixtures/bytes.ts'
import { slowLookups } from '../../fixtures/slow-lookups.ts'
import { within } from '../../fixtures/waiting.ts'
import { dialer } from '../../negotiation/fixtures/dialer.ts'
import { HEADER, NA, NOISE } from '../../negotiation/fixtures/proposals.ts'
import { remote, reply } from '../../negotiation/fixtures/remote.ts'
import { Stopwatch, handles, nothingLeft } from './promptly.ts'
import type { DialerOptions } from '../../negotiation/fixtures/dialer.ts'
import type { Behaviour, Visit } from '../../negotiation/fixtures/remote.ts'
import type { Context, Run, Scenario } from '../scenario.ts'
import type { ConnectionGater } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Libp2p } from 'libp2p'

/** How long a dial may go on after the abort, in ms */
const PROMPT = 50

/** A dial that goes on for longer never ends, in ms */
const HANGS = 1_000

/** How long a node that has stopped may wait for what it has begun, in ms: libp2p itself waits a second */
const LEAVES = 3_000

/** When the next address is dialed, in ms */
const ATTEMPT_DELAY = 20

/** Noise's first message behind its length */
const HANDSHAKE = 2 + 32

/** How many dials take all places of those that wait for an answer, with four addresses each */
const CROWD = 12

/** What is dialed, and when that is to end */
interface Arranged {
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
type Point = (context: Context) => Promise<(run: Run) => Arranged | Promise<Arranged>>

const points: Record<string, Point> = {
  'before it begins': async ({ defer }) => {
    const silent = await silentPorts(defer, 2)

    return async () => ({ dials: [await ofOnePeer(silent)], reached: async () => {} })
  },

  'while the first address is silent': async ({ defer }) => {
    const silent = await silentPorts(defer, 3)

    return async () => ({ dials: [await ofOnePeer(silent)], reached: async opened => opened(1).then(async () => turns(5)) })
  },

  'when the second begins': async ({ defer }) => {
    const silent = await silentPorts(defer, 3)

    return async () => ({ dials: [await ofOnePeer(silent)], reached: async opened => opened(2) })
  },

  'while all are silent': async ({ defer }) => {
    const silent = await silentPorts(defer, 3)

    return async () => ({ dials: [await ofOnePeer(silent)], reached: async opened => opened(3).then(async () => turns(5)) })
  },

  'when one has failed': async ({ defer }) => {
    const silent = await silentPorts(defer, 2)

    return async () => ({ dials: [await ofOnePeer([await refusedPort(), ...silent])], reached: async opened => opened(2).then(async () => turns(5)) })
  },

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
  'while its reply is not whole': beside([reply(HEADER)], visited => visited(1, NOISE.byteLength)),
  'in its handshake': beside([reply(NOISE)], visited => visited(1, NOISE.byteLength + HANDSHAKE)),
  'while it is dialed again after a refusal': beside([reply(NA), () => {}], visited => visited(2, NOISE.byteLength)),

  'when its upgrade takes long, and others begin': async ({ defer }) => {
    const [silent] = await silentPorts(defer, 1)

    return async run => {
      const { port } = await remote(run.defer, [() => {}])

      return { dials: [await ofOnePeer([port, silent])], reached: async opened => opened(2).then(async () => turns(5)) }
    }
  },

  'while two are upgraded': async () => async run => {
    const both = [Promise.withResolvers<Visit>(), Promise.withResolvers<Visit>()]
    const ports = await Promise.all(both.map(async ({ resolve }) => remote(run.defer, [resolve])))

    return {
      dials: [await ofOnePeer(ports.map(({ port }) => port))],
      reached: async () => Promise.all(both.map(async ({ promise }) => (await promise).got(NOISE.byteLength)))
    }
  },

  'when a stranger has failed, and the next begins': async ({ defer }) => {
    const silent = await silentPorts(defer, 2)
    const stranger = await strangerPort(defer)

    return async () => ({ dials: [await ofOnePeer([stranger, ...silent])], reached: async opened => opened(2).then(async () => turns(5)) })
  },

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

type End = 'aborted' | 'stopped'

export const raceScenarios: Scenario[] = Object.entries(points).flatMap(([point, arrangeAll]) => (['aborted', 'stopped'] as const).map(end => ({
  name: `race of addresses, ${end} ${point}`,
  runs: 50,
  timeout: 20_000,
  // official dials one address after another
  transports: ['ours'],
  async prepare (context) {
    const arrange = await arrangeAll(context)

    return async run => endOnce(end, arrange, run)
  }
})))

async function endOnce (end: End, arrange: Awaited<ReturnType<Point>>, run: Run): Promise<void> {
  const { dials, gater = {}, attemptDelay = ATTEMPT_DELAY, connectionManager, reached, afterwards } = await arrange(run)
  // each knows nothing of the addresses
  const { node } = await dialer(run.defer, { tcp: { attemptDelay }, connectionGater: gater, connectionManager })
  const { sockets } = countSockets(run.defer)
  const before = handles()
  const controller = new AbortController()
  const stopwatch = new Stopwatch()
  const reason = new Error('enough')
  const { opened, onProgress } = countAttempts()
  const dialed = Promise.all(dials.map(async addresses => node.dial(addresses, { signal: controller.signal, onProgress }).then(() => new Error('dialed'), err => err)))

  await Promise.race([
    reached(opened),
    dialed.then(([err]) => { throw new Error(`ended too early: ${err.message}`, { cause: err }) })
  ])

  run.injected()
  stopwatch.start()

  const ended = finish(end, node, controller, reason)
  const errors: Error[] = await within(HANGS, 'the dial', dialed)
  const ms = stopwatch.stop()

  run.measured('ms to reject', ms)
  await ended

  for (const error of errors) {
    if (end === 'aborted' && error.name !== 'AbortError' && !error.message.includes(reason.message)) {
      throw new Error(`rejected with ${error.name}: ${error.message}`, { cause: error })
    }
  }

  if (ms > PROMPT) {
    throw new Error(`rejected after ${ms.toFixed()} ms`)
  }

  const { length } = sockets

  await afterwards?.()
  await nothingLeft(before, LEAVES)

  if (sockets.length > length) {
    throw new Error('dialed another address')
  }

  if (sockets.some(({ destroyed }) => !destroyed)) {
    throw new Error('left a socket')
  }

  if (getEventListeners(controller.signal, 'abort').length > 0) {
    throw new Error('left a listener on the signal')
  }
}

async function finish (end: End, node: Libp2p, controller: AbortController, reason: Error): Promise<void> {
  if (end === 'stopped') {
    await node.stop()
  } else {
    controller.abort(reason)
  }
}

function countAttempts (): { opened(attempts: number): Promise<void>, onProgress(event: { type: string }): void } {
  const waiting: Array<[attempts: number, resolve: () => void]> = []
  let attempts = 0

  return {
    opened: async wanted => new Promise(resolve => { waiting.push([wanted, resolve]) }),

    onProgress ({ type }) {
      if (type === 'tcp:open-connection') {
        attempts++
        waiting.filter(([wanted]) => attempts >= wanted).forEach(([, resolve]) => { resolve() })
      }
    }
  }
}

/** Addresses of a peer that is at none of them */
async function ofOnePeer (ports: number[]): Promise<Multiaddr[]> {
  const peer = await somePeerId()

  return ports.map(port => addressOf(port, peer))
}

/** Resolves when so many connections have come and so many bytes over the last of them */
type Visited = (visits: number, bytes: number) => Promise<void>

/** Two silent addresses, and one that connects and then behaves so, the first time, the second time and so on */
function beside (behaviours: Behaviour[], reached: (visited: Visited) => Promise<void>): Point {
  return async ({ defer }) => {
    const silent = await silentPorts(defer, 2)

    return async run => {
      const visits = Array.from(behaviours, () => Promise.withResolvers<Visit>())
      const { port } = await remote(run.defer, behaviours.map((behaviour, index) => visit => {
        visits[index].resolve(visit)

        return behaviour(visit)
      }))

      return {
        dials: [await ofOnePeer([...silent, port])],
        reached: async () => reached(async (nth, bytes) => {
          const visit = await visits[nth - 1].promise

          await visit.got(bytes)
        })
      }
    }
  }
}
