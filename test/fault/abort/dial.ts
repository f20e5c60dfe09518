import { getEventListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { noise } from '@libp2p/noise'
import { CustomProgressEvent } from 'progress-events'
import { turns } from '../../fixtures/bytes.ts'
import { lookupOf } from '../../fixtures/machine.ts'
import { rawPeer } from '../../fixtures/peers.ts'
import { slowLookups } from '../../fixtures/slow-lookups.ts'
import { within } from '../../fixtures/waiting.ts'
import { fullBacklog } from '../../fixtures/workers.ts'
import { dialer, portOf } from '../../negotiation/fixtures/dialer.ts'
import { withoutEarlyMuxer } from '../../negotiation/fixtures/early-muxer.ts'
import { HEADER, NA, NOISE } from '../../negotiation/fixtures/proposals.ts'
import { reply } from '../../negotiation/fixtures/remote.ts'
import { echoNode } from '../../negotiation/fixtures/stacks.ts'
import { stuckEncrypter } from '../stuck-encrypter.ts'
import { Stopwatch, handles, nothingLeft } from './promptly.ts'
import { visiting } from './visiting.ts'
import type { TCPDialOptions } from '../../../src/index.ts'
import type { Dialer, DialerOptions } from '../../negotiation/fixtures/dialer.ts'
import type { Behaviour } from '../../negotiation/fixtures/remote.ts'
import type { Context, Run, Scenario } from '../scenario.ts'
import type { Visited } from './visiting.ts'
import type { Connection, Upgrader } from '@libp2p/interface'
import type { LookupFunction } from 'node:net'

/** How long a dial may go on after its signal has fired, in ms */
const PROMPT = 50

/** A dial that goes on for longer never ends, in ms */
const HANGS = 1_000

/** Noise's first message behind its length */
const HANDSHAKE = 2 + 32

/** One dial, and when it is to be aborted */
interface Arranged {
  addr: string
  options?: Partial<TCPDialOptions>

  /** Resolves where the dial is to be aborted, unless `abort` was called by then */
  reached?: Promise<unknown>

  /** What happens after the dial has ended */
  afterwards?(): unknown
}

type Arrange = (run: Run, abort: () => void) => Arranged | Promise<Arranged>

/** Sets up what all runs share */
type Point = (context: Context) => Arrange | Promise<Arrange>

const points: Record<string, Point> = {
  'before it begins': async ({ defer }) => {
    const { addr } = await rawPeer(defer)

    return (_, abort) => {
      abort()

      return { addr }
    }
  },

  'before it connects': async ({ defer }) => {
    const { addr } = await rawPeer(defer)

    return (_, abort) => ({ addr, ...atProgress('tcp:open-connection', abort) })
  },

  'in a look-up': async ({ defer }) => {
    const { port } = await rawPeer(defer)
    const hold = slowLookups(defer)

    return async () => {
      const release = hold()

      return { addr: `/dns4/localhost/tcp/${port}`, reached: turns(5), afterwards: release }
    }
  },

  'in a look-up that answers later': async ({ defer }) => {
    const peer = await rawPeer(defer)

    return () => {
      const asked = Promise.withResolvers<() => void>()
      const lookup: LookupFunction = (...args) => { asked.resolve(() => { lookupOf(['127.0.0.1'])(...args) }) }

      return {
        addr: `/dns4/late.test/tcp/${peer.port}`,
        options: { lookup },
        reached: asked.promise,
        afterwards: async () => {
          const answer = await asked.promise
          answer()
          await turns(20)
        }
      }
    }
  },

  'while connecting': async ({ defer }) => {
    const port = await fullBacklog(defer)

    return () => ({ addr: `/ip4/127.0.0.1/tcp/${port}`, reached: turns(5) })
  },

  'while connecting to the first address of a name': async ({ defer }) => {
    const port = await fullBacklog(defer)

    return () => ({
      addr: `/dns/many.test/tcp/${port}`,
      options: { lookup: lookupOf(['127.0.0.1', '::1']), autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 5_000 },
      reached: turns(10)
    })
  },

  'before it proposes': answering([reply(NOISE)], (_, abort) => atProgress('upgrader:encrypt-outbound-connection', abort)),
  'while the peer is silent': answering([() => {}], visited => ({ reached: visited(1, NOISE.byteLength) })),
  'while the reply is not whole': answering([reply(HEADER)], visited => ({ reached: visited(1, NOISE.byteLength) })),
  'in the handshake': answering([reply(NOISE)], visited => ({ reached: visited(1, NOISE.byteLength + HANDSHAKE) })),

  'in the negotiation of the muxer': async ({ defer }) => {
    // what libp2p takes to note the addresses of a node, also of one that has stopped
    defer(async () => delay(1_000))

    const secured: Array<() => void> = []
    const listener = await echoNode(defer, '127.0.0.1', {
      connectionEncrypters: [stuckEncrypter(withoutEarlyMuxer(noise()), 'inbound', 'after', () => { secured.shift()?.() })]
    })

    return () => ({
      addr: `/ip4/127.0.0.1/tcp/${portOf(listener)}`,
      reached: new Promise<void>(resolve => { secured.push(resolve) }).then(async () => turns(20))
    })
  },

  'in an upgrade that heeds no signal': async ({ defer }) => {
    const { addr } = await rawPeer(defer, { allowHalfOpen: false, onSocket (socket) { socket.resume() } })

    return () => {
      const upgrading = Promise.withResolvers<void>()
      const upgrader = {
        upgradeOutbound: async () => {
          upgrading.resolve()

          return new Promise(() => {})
        }
      } as unknown as Upgrader

      return { addr, options: { upgrader }, reached: upgrading.promise }
    }
  },

  'when the peer refuses': answering([reply(NA)], (_, abort) => atProgress('tcp:redial', abort)),
  'before it connects again': answering([reply(NA)], (_, abort) => atProgress('tcp:open-connection', abort, 2)),
  'while the peer is silent the second time': answering([reply(NA), () => {}], visited => ({ reached: visited(2, NOISE.byteLength) })),
  'in the second handshake': answering([reply(NA), reply(NOISE)], visited => ({ reached: visited(2, NOISE.byteLength + HANDSHAKE) }))
}

/** What the dialing node is made of */
const dialers: Record<string, () => DialerOptions> = {
  'in the negotiation of the muxer': () => ({ connectionEncrypters: [withoutEarlyMuxer(noise())] })
}

export const dialScenarios: Scenario[] = Object.entries(points).map(([point, arrangeAll]) => ({
  name: `dial, ${point}`,
  runs: 100,
  timeout: 20_000,
  async prepare (context) {
    const dialing = await dialer(context.defer, dialers[point]?.())
    const arrange = await arrangeAll(context)

    return async run => abortOnce(dialing, arrange, run)
  }
}))

async function abortOnce (dialing: Dialer, arrange: Arrange, run: Run): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  const reason = new Error('enough')
  const stopwatch = new Stopwatch()

  const abort = (): void => {
    run.injected()
    stopwatch.start()
    controller.abort(reason)
  }

  const { addr, options, reached, afterwards } = await arrange(run, abort)
  const before = handles()
  const dialed = dialAndAgain(dialing, addr, { ...options, signal }).then(connection => {
    connection.abort(new Error('unwanted'))
    throw new Error('dialed')
  }, err => err)

  if (reached != null) {
    await Promise.race([
      reached,
      dialed.then(err => { throw new Error(`ended before it was aborted: ${err.message}`) })
    ])
    abort()
  }

  try {
    const error = await within(HANGS, 'the dial', dialed)
    const ms = stopwatch.stop()

    run.measured('ms to reject', ms)

    if (error.name !== 'AbortError') {
      // what the upgrader makes of it
      run.measured('no AbortError', 1)
    }

    if (error.name !== 'AbortError' && error !== reason && !String(error.message).includes(reason.message)) {
      throw new Error(`rejected with ${error.name}: ${error.message}`)
    }

    if (ms > PROMPT) {
      throw new Error(`rejected after ${ms.toFixed()} ms`)
    }
  } finally {
    stopwatch.stop()
    await afterwards?.()
  }

  await nothingLeft(before)

  if (getEventListeners(signal, 'abort').length > 0) {
    throw new Error('left a listener on the signal')
  }
}

/** The official transport does not dial again where it was refused: there it is the caller who does */
async function dialAndAgain ({ dial }: Dialer, addr: string, options: Partial<TCPDialOptions>): Promise<Connection> {
  try {
    return await dial(addr, options)
  } catch (err) {
    if (process.env.TRANSPORT !== 'official' || options.signal?.aborted === true) {
      throw err
    }

    options.onProgress?.(new CustomProgressEvent('tcp:redial'))

    return dial(addr, options)
  }
}

function atProgress (type: string, abort: () => void, nth = 1): Pick<Arranged, 'options'> {
  let seen = 0

  return {
    options: {
      onProgress (event) {
        if (event.type === type && ++seen === nth) {
          abort()
        }
      }
    }
  }
}

/** A peer that behaves so in every run */
function answering (behaviours: Behaviour[], when: (visited: Visited, abort: () => void) => Pick<Arranged, 'options' | 'reached'>): Point {
  return () => async (run, abort) => {
    const { addr, visited } = await visiting(run.defer, behaviours)

    return { addr, ...when(visited, abort) }
  }
}
