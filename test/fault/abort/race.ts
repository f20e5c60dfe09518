import { getEventListeners } from 'node:events'
import { countSockets } from '../../dial/race/fixtures/addresses.ts'
import { within } from '../../fixtures/waiting.ts'
import { dialer } from '../../negotiation/fixtures/dialer.ts'
import { Stopwatch, handles, nothingLeft } from './promptly.ts'
import { points } from './race-points.ts'
import type { Point } from './race-points.ts'
import type { Run, Scenario } from '../scenario.ts'
import type { Libp2p } from 'libp2p'

/** How long a dial may go on after the abort, in ms */
const PROMPT = 50

/** A dial that goes on for longer never ends, in ms */
const HANGS = 1_000

/** How long a node that has stopped may wait for what it has begun, in ms: libp2p itself waits a second */
const LEAVES = 3_000

/** When the next address is dialed, in ms */
const ATTEMPT_DELAY = 20

type End = 'aborted' | 'stopped'

export const raceScenarios: Scenario[] = Object.entries(points).flatMap(([point, arrangeAll]) => (['aborted', 'stopped'] as const).map(end => ({
  name: `race of addresses, ${end} ${point}`,
  runs: 50,
  timeout: 20_000,
  // official dials one address after another
  isOursAlone: true as const,
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
