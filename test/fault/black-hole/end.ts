/*
 * A node at one end of a link that goes silent
 */
import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { MiB } from '../../fixtures/bytes.ts'
import { until } from '../../fixtures/waiting.ts'
import { serve } from '../../lab/process/serve.ts'
import { endingOf } from '../endings.ts'
import { sendEndlessly } from '../kill/send-endlessly.ts'
import { nodeOf } from '../nodes.ts'
import type { TestNode } from '../../fixtures/node.ts'
import type { Ending } from '../endings.ts'
import type { Connection, Stream } from '@libp2p/interface'

export const STATES = ['idle', 'sending', 'receiving', 'closing'] as const

export type State = typeof STATES[number]

const SWALLOW = '/test/swallow/1.0.0'
const FLOOD = '/test/flood/1.0.0'

interface Held {
  state: State
  connection: Connection
  ending: Ending
  closedAfter?: number
}

let node: TestNode
let silentSince = 0
const held: Held[] = []

const tasks = {
  /**
   * @returns the address, if there is one to listen on
   */
  async start (index: number, inactivityTimeout: number, host?: string): Promise<string | undefined> {
    node = await nodeOf(() => {}, index, {
      addresses: { listen: host == null ? [] : [`/ip4/${host}/tcp/0`] },
      tcp: { inboundSocketInactivityTimeout: inactivityTimeout, outboundSocketInactivityTimeout: inactivityTimeout },
      // the timeout is to close them, not a ping that is not answered
      connectionMonitor: { enabled: false }
    })

    await node.handle(SWALLOW, stream => { stream.addEventListener('message', () => {}) }, { maxInboundStreams: 1_000 })
    await node.handle(FLOOD, async stream => sendEndlessly(stream), { maxInboundStreams: 1_000 })

    return node.getMultiaddrs()[0]?.toString()
  },

  /** Resolves when so many connections are in each state */
  async open (address: string, perState: number): Promise<void> {
    for (const state of STATES.flatMap(state => Array.from({ length: perState }, () => state))) {
      // dials at the same time would end up in one connection
      const connection = await node.dial(multiaddr(address), { force: true })
      held.push(hold(connection, state))
    }

    const idle = await Promise.all(held.map(async ({ state, connection }) => {
      const stream = await connection.newStream(state === 'receiving' ? FLOOD : SWALLOW)
      await keepBusy(stream, state)

      return state === 'idle' ? [stream] : []
    }))

    // not before the others are ready, or they would be closed meanwhile
    idle.flat().forEach(stream => { stream.abort(new Error('It is to be idle')) })
  },

  /** From now on the other end hears nothing */
  silent (): void {
    silentSince = performance.now()
    held.filter(({ state }) => state === 'closing').forEach(({ connection }) => { connection.close().catch(() => {}) })
  },

  /** After how many ms of silence each connection closed, how often, and what is left of all */
  async ended (timeout: number): Promise<{ left: number, endings: Array<{ state: State, ms?: number, times: number }> }> {
    await Promise.race([Promise.all(held.map(async ({ ending }) => ending.ended)), delay(timeout)])
    await until(() => node.getConnections().length === 0, 'no connection is left', timeout).catch(() => {})

    return {
      left: node.getConnections().length,
      endings: held.map(({ state, closedAfter, ending }) => ({ state, ms: closedAfter, times: ending.times }))
    }
  }
}

function hold (connection: Connection, state: State): Held {
  const holding: Held = { state, connection, ending: endingOf(connection) }
  connection.addEventListener('close', () => { holding.closedAfter ??= performance.now() - silentSince })

  return holding
}

/** Resolves when enough has passed, and goes on */
async function keepBusy (stream: Stream, state: State): Promise<void> {
  let passed = 0

  if (state === 'receiving') {
    stream.addEventListener('message', ({ data }) => { passed += data.byteLength })
    stream.send(new Uint8Array(1))
  } else {
    void sendEndlessly(stream, bytes => { passed += bytes })
  }

  await until(() => passed > MiB, 'enough has passed')
}

export type EndTasks = typeof tasks

serve(tasks)
