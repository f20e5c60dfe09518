import { multiaddr } from '@multiformats/multiaddr'
import { MiB, payload, sendAll, tally } from '../../fixtures/bytes.ts'
import { rawPeer, readAll } from '../../fixtures/peers.ts'
import { portOf, rawTransport } from '../../fixtures/raw.ts'
import { within } from '../../fixtures/waiting.ts'
import { openProxy } from '../../lab/link/proxy.ts'
import { expectSame } from '../expect-same.ts'
import { expectNothingOpen, nodeOf } from '../nodes.ts'
import { PROTOCOL, bothWays } from './both-ways.ts'
import type { TestNodeOptions } from '../../fixtures/node.ts'
import type { Fault } from '../../lab/link/proxy.ts'
import type { Context, Run, Scenario, Suite } from '../scenario.ts'

const PATIENCE = 240_000

/**
 * A ping waits behind all that the link has queued, 8 s and more at 512 KB/s, for which libp2p's connection monitor would abort the
 * connection
 */
const PATIENT: TestNodeOptions = { connectionMonitor: { abortConnectionOnPingFailure: false } }

const LATENCY: Fault = { delay: 50, jitter: 50 }
const SLICES: Fault = { slice: 64 }
const RATE: Fault = { rate: 512 }
const SLOW_CLOSE: Fault = { slowClose: 2_000 }

export const integrity: Suite = {
  name: 'integrity',
  promise: 'Two nodes send to each other at the same time over a link that is slow, uneven or both, and close. All that was sent arrives, by SHA-256, at both ends',
  scenarios: [
    over('64 MiB each way, 50 to 100 ms late', 64 * MiB, LATENCY, 2),
    over('4 MiB each way, slices of 32 to 96 B', 4 * MiB, SLICES, 4),
    over('16 MiB each way, 512 KB/s', 16 * MiB, RATE, 4),
    over('64 MiB each way, FIN 2 s late', 64 * MiB, SLOW_CLOSE, 2),
    over('4 MiB each way, all of these', 4 * MiB, { ...LATENCY, ...SLICES, ...RATE, ...SLOW_CLOSE }, 4),
    {
      name: '8 MiB that were sent before the peer half-closed',
      runs: 100,
      concurrency: 10,
      timeout: 60_000,
      prepare: prepareHalfClose
    }
  ]
}

/** Both ways */
function over (name: string, bytes: number, fault: Fault, runs: number): Scenario {
  return { name, runs, concurrency: runs, timeout: PATIENCE, prepare: async context => prepareNodes(context, bytes, fault) }
}

async function prepareNodes ({ defer, random }: Context, bytes: number, fault: Fault): Promise<(run: Run) => Promise<void>> {
  const { handler, over } = bothWays(bytes, PATIENCE)
  const listener = await nodeOf(defer, 0, { ...PATIENT, listen: true })
  const accepted = new Map<string, Promise<void>>()

  expectNothingOpen(defer, listener)

  await listener.handle(PROTOCOL, async (stream, connection) => {
    const received = Promise.resolve(handler(stream, connection))
    received.catch(() => {})
    accepted.set(connection.remotePeer.toString(), received)
  }, { maxInboundStreams: 100 })

  return async run => {
    const { port, close } = await openProxy({ target: { host: '127.0.0.1', port: portOf(listener.getMultiaddrs()[0]) }, up: fault, down: fault, random })
    run.defer(close)
    run.injected(2 * Object.keys(fault).length)

    const dialer = await nodeOf(run.defer, run.index, PATIENT)
    const start = performance.now()
    const connection = await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`), { signal: AbortSignal.timeout(PATIENCE) })

    await over(connection)
    await accepted.get(dialer.peerId.toString())
    run.measured('s', (performance.now() - start) / 1_000)
    await within(10_000, 'close()', connection.close())
  }
}

/** Its FIN arrives while most of what was sent is still here */
async function prepareHalfClose ({ defer, random }: Context): Promise<(run: Run) => Promise<void>> {
  const data = payload(8 * MiB)
  const sent = tally(data)
  const { dial } = rawTransport(defer)
  const peer = await rawPeer(defer)
  const fault = { delay: 5, jitter: 20 }
  const proxy = await openProxy({ target: { host: '127.0.0.1', port: peer.port }, up: fault, down: fault, random })
  defer(async () => proxy.close())

  // one at a time, or it is not known which of them the peer has accepted
  let connecting: Promise<unknown> = Promise.resolve()

  return async ({ injected }) => {
    const connected = connecting.then(async () => Promise.all([dial(`/ip4/127.0.0.1/tcp/${proxy.port}`), peer.next()]))
    connecting = connected.catch(() => {})

    const [conn, socket] = await connected

    sendAll(conn, data)
    socket.end()
    injected()

    expectSame('After the FIN', await within(30_000, 'What was sent', readAll(socket)), sent)
  }
}
