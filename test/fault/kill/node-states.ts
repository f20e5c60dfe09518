import { noise } from '@libp2p/noise'
import { multiaddr } from '@multiformats/multiaddr'
import { MiB } from '../../fixtures/bytes.ts'
import { until } from '../../fixtures/waiting.ts'
import { withoutEarlyMuxer } from '../../negotiation/fixtures/early-muxer.ts'
import { endingOf, expectCut } from '../endings.ts'
import { expectNothingOpen, nodeOf } from '../nodes.ts'
import { PATIENCE, PROTOCOL, expectSoonAfterKill, runRemote } from './kill.ts'
import { sendEndlessly } from './send-endlessly.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { TestNode } from '../../fixtures/node.ts'
import type { Run } from '../scenario.ts'
import type { NodeState } from './kill.ts'
import type { Stream } from '@libp2p/interface'

/** So much passed before the kill */
const AMOUNT = MiB

/** Returns what kills a node, with which one of two local nodes has to do */
export async function nodeKiller (state: NodeState, defer: Defer): Promise<(run: Run) => Promise<void>> {
  const nodes = await Promise.all([0, 1].map(async index => nodeOf(defer, index, {}, state === 'muxer' ? withoutEarlyMuxer(noise()) : undefined)))

  nodes.forEach(node => { expectNothingOpen(defer, node) })

  return async run => killNode(nodes[run.index % 2], state, run)
}

async function killNode (node: TestNode, state: NodeState, run: Run): Promise<void> {
  const remote = runRemote(run.defer, 'node', state)
  const addr = multiaddr(await remote.says())
  const dialing = node.dial(addr, { signal: AbortSignal.timeout(PATIENCE) })

  if (state === 'noise' || state === 'muxer') {
    await remote.says()
    // who is optimistic of the muxer has a connection before the remote has agreed
    const ended = dialing.then(async connection => endingOf(connection).ended, () => {})
    await expectSoonAfterKill(remote, run, 'The end of the dial', ended)
  } else {
    const connection = await dialing
    const stream = await connection.newStream(PROTOCOL)
    const endings = [endingOf(connection), endingOf(stream)]

    if (state === 'sending') {
      await sendSome(stream)
    } else if (state === 'receiving') {
      await receiveSome(stream)
    }

    await expectSoonAfterKill(remote, run, 'The end of the connection', Promise.all(endings.map(async ({ ended }) => ended)))

    for (const ending of endings) {
      await expectCut('A connection or stream', ending, PATIENCE)
    }
  }
}

/** ... and go on sending */
async function sendSome (stream: Stream): Promise<void> {
  let sent = 0
  void sendEndlessly(stream, bytes => { sent += bytes })
  await until(() => sent >= AMOUNT, 'enough is sent')
}

async function receiveSome (stream: Stream): Promise<void> {
  let received = 0
  stream.addEventListener('message', ({ data }) => { received += data.byteLength })
  // the remote learns of the stream by what is sent
  stream.send(new Uint8Array(1))
  await until(() => received >= AMOUNT, 'enough is received')
}
