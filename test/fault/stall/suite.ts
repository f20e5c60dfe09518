import { multiaddr } from '@multiformats/multiaddr'
import { turns } from '../../fixtures/bytes.ts'
import { runChild } from '../../fixtures/child.ts'
import { until } from '../../fixtures/waiting.ts'
import { stall } from '../../fixtures/workers.ts'
import { runRemote } from '../kill/kill.ts'
import { nodeOf } from '../nodes.ts'
import type { Run, Scenario, Suite } from '../scenario.ts'

const STALL = 1_000

/** Shorter than the stall: whoever looks at the clock first takes live peers for dead */
const INACTIVITY_TIMEOUT = 800

/** Peers that live on in threads and processes of their own, in one run */
const PEERS = 5

const PATIENCE = 30_000

export const blockedLoop: Suite = {
  name: 'blocked event loop',
  promise: `The event loop is blocked for ${STALL / 1_000} s while ${PEERS} peers are alive, with an inactivity timeout of ${INACTIVITY_TIMEOUT / 1_000} s. No peer is given up: every handshake succeeds`,
  scenarios: [
    scenario('in the handshake of a dial', dialWhileBlocked),
    scenario('in the handshake of an accepted connection', acceptWhileBlocked)
  ]
}

function scenario (name: string, block: (run: Run) => Promise<void>): Scenario {
  return {
    name,
    runs: 10,
    timeout: 90_000,
    prepare: async () => block
  }
}

/** Blocked a turn later in each run, so that every step of the handshake is hit */
async function dialWhileBlocked ({ defer, index, injected }: Run): Promise<void> {
  const remote = runRemote(defer, 'node', 'idle')
  const address = multiaddr(await remote.says())
  const nodes = await Promise.all(Array.from({ length: PEERS }, async (_, i) => nodeOf(defer, i, { tcp: { outboundSocketInactivityTimeout: INACTIVITY_TIMEOUT } })))
  const dials = Promise.allSettled(nodes.map(async node => {
    const connection = await node.dial(address)
    await node.services.ping.ping(connection.remotePeer)
  }))

  await turns(index)
  injected(PEERS)
  stall(STALL)

  const failed = (await dials).filter(result => result.status === 'rejected')

  if (failed.length > 0) {
    throw new Error(`Live peers were not dialed: ${failed[0].reason.message}`)
  }
}

async function acceptWhileBlocked ({ defer, index, injected }: Run): Promise<void> {
  const node = await nodeOf(defer, index, { listen: true, tcp: { inboundSocketInactivityTimeout: INACTIVITY_TIMEOUT } })
  const remote = runChild(defer, '../../fault/stall/dialing-remote.ts', [node.getMultiaddrs()[0].toString(), PEERS])

  await remote.says()
  remote.tell('go')
  await remote.says()
  await turns(index)
  injected(PEERS)
  stall(STALL)

  let answered: unknown
  await until(async () => {
    answered = await remote.says()
    return typeof answered === 'number'
  }, 'the peers have dialed', PATIENCE)

  if (answered !== PEERS) {
    throw new Error('A live peer was not accepted')
  }
}
