import { multiaddr } from '@multiformats/multiaddr'
import { KiB, MiB } from '../../fixtures/bytes.ts'
import { until } from '../../fixtures/waiting.ts'
import { openProxy } from '../../lab/link/proxy.ts'
import { endingOf, expectCut } from '../endings.ts'
import { expectNothingOpen, nodeOf } from '../nodes.ts'
import { exchangeOn } from './exchange.ts'
import type { TestNodeOptions } from '../../fixtures/node.ts'
import type { Faults } from '../../lab/link/proxy.ts'
import type { Ending } from '../endings.ts'
import type { Exchange } from './exchange.ts'
import type { Context, Run, Scenario, Suite } from '../scenario.ts'
import type { Connection } from '@libp2p/interface'

const PROTOCOL = '/test/exchange/1.0.0'

/** What neither end hears anything on for so many ms is closed */
const INACTIVITY_TIMEOUT = 2_500

/**
 * From the fault to its last consequence, in ms: a dial may be tried twice, on a machine that is busy, but libp2p's pings are to have no
 * time to end anything
 */
const PATIENCE = 9_000

/** It is the transport that is to end dials and upgrades in time */
const PATIENT: TestNodeOptions = {
  connectionManager: { dialTimeout: 60_000, addressDialTimeout: 60_000, inboundUpgradeTimeout: 60_000 }
}

/** The header of multistream-select has 20 bytes, the first of which is the length of the other 19; with the proposal of Noise it has 28 */
const LIMITS: Array<[string, number]> = [
  ...[0, 1, 19, 20, 27, 28, 29].map((bytes): [string, number] => [`${bytes} B`, bytes]),
  ['4 KiB', 4 * KiB],
  ['1 MiB', MiB]
]

export const lossy: Suite = {
  name: 'lossy',
  promise: 'Two nodes send 2 MiB to each other, and the link ends it. What arrives is an exact prefix of what was sent, a dial fails once or its connection closes once, a stream closes once at each end and never looks complete, and nothing stays open',
  scenarios: [
    ...LIMITS.flatMap(([title, limit]) => [
      scenario(`cut after ${title} to the dialer`, { down: { limit } }),
      scenario(`cut after ${title} to the listener`, { up: { limit } })
    ]),
    ...[0, 100].flatMap(reset => [
      scenario(`RST after ${reset} ms`, { down: { reset } }),
      scenario(`RST after ${reset} ms, in the middle`, { down: { reset } }, true)
    ]),
    ...[0, 1_000].flatMap(silence => [
      scenario(`silence, ${silence === 0 ? 'for ever' : `cut after ${silence} ms`}`, { down: { silence } }),
      scenario(`silence, ${silence === 0 ? 'for ever' : `cut after ${silence} ms`}, in the middle`, { down: { silence } }, true)
    ])
  ]
}

function scenario (name: string, faults: Faults, inTheMiddle = false): Scenario {
  return {
    name,
    runs: 100,
    // to wait for a timeout costs nothing, but many handshakes at a time may take as long as one
    concurrency: faults.down?.silence != null && !inTheMiddle ? 25 : 10,
    timeout: 60_000,
    prepare: async context => prepare(context, faults, inTheMiddle)
  }
}

async function prepare ({ defer, random }: Context, faults: Faults, inTheMiddle: boolean): Promise<(run: Run) => Promise<void>> {
  const listener = await nodeOf(defer, 0, { ...PATIENT, listen: true, tcp: { inboundSocketInactivityTimeout: INACTIVITY_TIMEOUT } })
  const port = Number(listener.getMultiaddrs()[0].getComponents().find(({ name }) => name === 'tcp')?.value)
  const accepted = new Map<string, Array<[string, Ending]>>()

  expectNothingOpen(defer, listener)

  function acceptedFrom (peer: string): Array<[string, Ending]> {
    const endings = accepted.get(peer) ?? []
    accepted.set(peer, endings)

    return endings
  }

  listener.addEventListener('connection:open', ({ detail: connection }) => {
    acceptedFrom(connection.remotePeer.toString()).push(['The accepted connection', endingOf(connection)])
  })

  await listener.handle(PROTOCOL, (stream, connection) => {
    acceptedFrom(connection.remotePeer.toString()).push(['The accepted stream', exchangeOn(stream)])
  })

  return async ({ index, defer, injected, measured }) => {
    const proxy = await openProxy({ target: { host: '127.0.0.1', port }, random, ...inTheMiddle ? {} : faults })
    defer(async () => proxy.close())

    const dialer = await nodeOf(defer, index, { ...PATIENT, tcp: { outboundSocketInactivityTimeout: INACTIVITY_TIMEOUT } })
    const endings: Array<[string, Ending | Exchange]> = []
    const signal = AbortSignal.timeout(PATIENCE)
    const connection = await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${proxy.port}`), { signal }).catch(() => undefined)

    if (signal.aborted) {
      throw new Error('Nothing but its signal ended the dial')
    }

    injected()

    if (connection != null) {
      endings.push(['The dialed connection', endingOf(connection)])
      await exchange(connection, endings, inTheMiddle ? () => { proxy.inject(faults) } : undefined)
    } else if (inTheMiddle) {
      throw new Error('There was nothing yet to refuse the dial for')
    }

    const since = performance.now()

    for (const [what, ending] of endings) {
      await expectCut(what, ending, PATIENCE)
    }

    // what the dialer does not know of, the listener may not know of yet
    await until(() => listener.getConnections(dialer.peerId).length === 0, 'the listener has closed it too', PATIENCE)

    for (const [what, ending] of accepted.get(dialer.peerId.toString()) ?? []) {
      await expectCut(what, ending, PATIENCE)
      endings.push([what, ending])
    }

    measured('ms', performance.now() - since)
    expectPrefixes(endings)

    if (dialer.getConnections().length > 0) {
      throw new Error('The dialer has a connection left')
    }
  }
}

async function exchange (connection: Connection, endings: Array<[string, Ending | Exchange]>, inject?: () => void): Promise<void> {
  try {
    const stream = await connection.newStream(PROTOCOL, { negotiateFully: false, signal: AbortSignal.timeout(PATIENCE) })
    const exchange = exchangeOn(stream)

    endings.push(['The dialed stream', exchange])

    if (inject != null) {
      await until(() => exchange.received > 0, 'the middle is reached')
      inject()
    }
  } catch (err) {
    if (inject != null) {
      throw err
    }
    // cut before there was a stream, which the connection tells
  }
}

function expectPrefixes (endings: Array<[string, Ending | Exchange]>): void {
  for (const [what, ending] of endings) {
    if ('wrongAt' in ending) {
      throw new Error(`${what} received something else than was sent, from ${ending.wrongAt} on`)
    }
  }
}
