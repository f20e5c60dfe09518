/* eslint-disable no-console */
import { noise } from '@libp2p/noise'
import { yamux } from '@libp2p/yamux'
import { optimistic, tcp } from '../../src/index.ts'
import { linux } from '../../src/linux/index.ts'
import { counters } from '../fixtures/counters.ts'
import { openHandles, until } from '../fixtures/waiting.ts'
import { seededRandom } from '../lab/process/random.ts'
import { dialer } from '../negotiation/fixtures/dialer.ts'
import { EAGER, ECHO, bareNode, echo, firstByte } from '../negotiation/fixtures/stacks.ts'
import { socketDescriptors } from './fixtures/descriptors.ts'
import type { Libp2pOptions } from 'libp2p'

/*
 * Dials thousands of times with TCP Fast Open, has a byte echoed, closes, and aborts one
 * dial in ten at random. Fails where a byte is lost, or a descriptor or handle is left.
 *
 * Needs a network namespace where `net.ipv4.tcp_fastopen` is 3:
 * unshare -n sh -c 'ip link set lo up; sysctl -qw net.ipv4.tcp_fastopen=3; npm exec -- node test/linux/many-dials.ts'
 */

const DIALS = Number(process.argv[2] ?? 10_000)
const CONCURRENT = 8

const random = seededRandom(1)
const counts = counters()
const stack = (): Libp2pOptions => ({
  connectionEncrypters: [optimistic(noise()) as any],
  streamMuxers: [optimistic(yamux())]
})
const cleanups: Array<() => unknown> = []
const defer = (cleanup: () => unknown): void => { cleanups.push(cleanup) }

const before = socketDescriptors()
const listener = await bareNode(defer, { ...stack(), addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }, transports: [tcp({ linux: linux({ fastOpen: true }) })] })
const { dial } = await dialer(defer, { ...stack(), tcp: { linux: linux({ fastOpen: true }) }, counts })
const addr = listener.getMultiaddrs()[0].toString()

await listener.handle(ECHO, echo, { maxInboundStreams: 1_000 })

const idle = socketDescriptors()
let left = DIALS
let echoed = 0
let aborted = 0
const start = performance.now()

async function dialOnce (): Promise<void> {
  const isAborted = random() < 0.1
  const signal = isAborted ? AbortSignal.timeout(Math.floor(random() * 12)) : AbortSignal.timeout(30_000)

  try {
    const connection = await dial(addr, { signal })

    if (await firstByte(await connection.newStream(ECHO, { ...EAGER, maxOutboundStreams: 1_000 })) !== 42) {
      throw new Error('another byte came back')
    }

    // on a busy machine it may take longer than libp2p's second
    await connection.close().catch(err => { connection.abort(err) })
    echoed++
  } catch (err) {
    if (!isAborted) {
      throw err
    }

    aborted++
  }
}

await Promise.all(Array.from({ length: CONCURRENT }, async () => {
  while (left-- > 0) {
    await dialOnce()
  }
}))

const seconds = (performance.now() - start) / 1_000

await until(() => socketDescriptors() <= idle, 'no connection is left', 35_000).catch(() => {})
const leftOpen = socketDescriptors() - idle

for (const cleanup of cleanups.toReversed()) {
  await cleanup()
}

await until(() => socketDescriptors() <= before && Object.keys(openHandles()).every(name => !name.startsWith('TCP')), 'no handle is left', 35_000).catch(() => {})

const result = {
  dials: DIALS,
  echoed,
  aborted,
  seconds: Math.round(seconds),
  outcomes: counts.labels('libp2p_tcp_fast_open_dials_total'),
  events: counts.labels('libp2p_tcp_dialer_events_total'),
  descriptorsLeft: leftOpen,
  descriptorsLeftAfterStop: socketDescriptors() - before,
  handlesLeft: openHandles()
}

console.log(JSON.stringify(result, undefined, 1))
process.exitCode = echoed + aborted === DIALS && leftOpen <= 0 && result.descriptorsLeftAfterStop <= 0 ? 0 : 1
