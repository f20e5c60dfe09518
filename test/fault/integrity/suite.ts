import { multiaddr } from '@multiformats/multiaddr'
import { MiB, payload, sendAll, tally } from '../../fixtures/bytes.ts'
import { rawPeer, readAll } from '../../fixtures/peers.ts'
import { portOf, rawTransport } from '../../fixtures/raw.ts'
import { within } from '../../fixtures/waiting.ts'
import { delayProxy } from '../../lab/link/delay-proxy.ts'
import { expectSame } from '../expect-same.ts'
import { expectNothingOpen, nodeOf } from '../nodes.ts'
import { buildToxiproxy } from '../toxiproxy/build.ts'
import { startToxiproxy } from '../toxiproxy/toxiproxy.ts'
import { PROTOCOL, bothWays } from './both-ways.ts'
import type { TestNodeOptions } from '../../fixtures/node.ts'
import type { Context, Run, Scenario, Suite } from '../scenario.ts'
import type { Poison } from '../toxiproxy/toxiproxy.ts'

const PATIENCE = 240_000

/**
 * A ping waits behind all that the link has queued, 8 s and more at 512 KB/s, for
 * which libp2p's connection monitor would abort the connection
 */
const PATIENT: TestNodeOptions = { connectionMonitor: { abortConnectionOnPingFailure: false } }

const LATENCY = both({ type: 'latency', attributes: { latency: 100, jitter: 50 } })
const SLICER = both({ type: 'slicer', attributes: { average_size: 64, size_variation: 32, delay: 0 } })
const BANDWIDTH = both({ type: 'bandwidth', attributes: { rate: 512 } })
const SLOW_CLOSE = both({ type: 'slow_close', attributes: { delay: 2_000 } })

export const integrity: Suite = {
  name: 'integrity',
  promise: 'Two nodes send to each other at the same time over a link that is slow, uneven or both, and close. All that was sent arrives, by SHA-256, at both ends',
  missing: buildToxiproxy,
  scenarios: [
    toxic('64 MiB each way, latency 100±50 ms', 64 * MiB, LATENCY, 2),
    toxic('4 MiB each way, slices of 64±32 B', 4 * MiB, SLICER, 4),
    toxic('16 MiB each way, 512 KB/s', 16 * MiB, BANDWIDTH, 4),
    toxic('64 MiB each way, slow_close 2 s', 64 * MiB, SLOW_CLOSE, 2),
    toxic('4 MiB each way, all of these', 4 * MiB, [...LATENCY, ...SLICER, ...BANDWIDTH, ...SLOW_CLOSE], 4),
    {
      name: '64 MiB each way through a half-open proxy, 50±50 ms late',
      runs: 2,
      concurrency: 2,
      timeout: PATIENCE,
      prepare: async context => prepareNodes(context, 64 * MiB, async (target, { defer, injected }) => {
        const proxy = await delayProxy({ target: { host: '127.0.0.1', port: target }, delay: 25, jitter: 50, random: context.random })
        defer(async () => proxy.close())
        injected()

        return proxy.port
      })
    },
    {
      name: '8 MiB that were sent before the peer half-closed, through a half-open proxy',
      runs: 100,
      concurrency: 10,
      timeout: 60_000,
      prepare: prepareHalfClose
    }
  ]
}

function both ({ type, attributes }: Omit<Poison, 'stream'>): Poison[] {
  return (['upstream', 'downstream'] as const).map(stream => ({ type, stream, attributes }))
}

function toxic (name: string, bytes: number, poisons: Poison[], runs: number): Scenario {
  return {
    name,
    runs,
    concurrency: runs,
    timeout: PATIENCE,
    prepare: async context => {
      const toxiproxy = await startToxiproxy(context.defer, Math.floor(context.random() * 2 ** 32))

      return prepareNodes(context, bytes, async (target, { defer, injected }) => {
        const link = await toxiproxy.link(target, poisons)
        defer(async () => link.remove())
        injected(poisons.length)

        return link.port
      })
    }
  }
}

/**
 * `linkTo` opens a way to a port and resolves to its own port
 */
async function prepareNodes ({ defer }: Context, bytes: number, linkTo: (target: number, run: Run) => Promise<number>): Promise<(run: Run) => Promise<void>> {
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
    const port = await linkTo(portOf(listener.getMultiaddrs()[0]), run)
    const dialer = await nodeOf(run.defer, run.index, PATIENT)
    const start = performance.now()
    const connection = await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`), { signal: AbortSignal.timeout(PATIENCE) })

    await over(connection)
    await accepted.get(dialer.peerId.toString())
    run.measured('s', (performance.now() - start) / 1_000)
    await within(10_000, 'close()', connection.close())
  }
}

/**
 * Its FIN arrives while most of what was sent is still here
 */
async function prepareHalfClose ({ defer, random }: Context): Promise<(run: Run) => Promise<void>> {
  const data = payload(8 * MiB)
  const sent = tally(data)
  const { dial } = rawTransport(defer)
  const peer = await rawPeer(defer)
  const proxy = await delayProxy({ target: { host: '127.0.0.1', port: peer.port }, delay: 5, jitter: 20, random })
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
