import net from 'node:net'
import { pEvent } from 'p-event'
import { KiB, MiB } from '../../fixtures/bytes.ts'
import { controlCharacters, rawLines } from '../../fixtures/control-characters.ts'
import { logLines } from '../../fixtures/log-lines.ts'
import { createNode } from '../../fixtures/node.ts'
import { rawPeer } from '../../fixtures/peers.ts'
import { portOf, toMultiaddr } from '../../fixtures/raw.ts'
import { openSockets, until, within } from '../../fixtures/waiting.ts'
import { HEADER, NA, NOISE, joined, message } from '../../negotiation/fixtures/proposals.ts'
import type { Run, Scenario } from '../scenario.ts'

/** When libp2p gives up a handshake; its default is 10 s, the point is the same */
const DEADLINE = 1_000

/** How much later it may be noticed, on a busy machine, in ms */
const SLACK = 5_000

/** What is sent at once and would go on; each message of it costs libp2p some 7 µs (test/upstream/endless-na.ts) without a turn of the event loop */
const ENDLESS = 64 * KiB

/** One connection's worth of bytes. Behind it the peer is silent. */
type Garbage = (random: () => number) => Uint8Array

const kinds: Record<string, Garbage> = {
  'random bytes': random => bytes(random, 1 + Math.floor(random() * 4 * KiB)),
  'endless ls': () => joined(HEADER, repeated(message('ls'), ENDLESS)),
  'endless na': () => joined(HEADER, repeated(message('na'), ENDLESS)),
  'endless headers': () => repeated(HEADER, ENDLESS),
  'endless proposals of what nobody speaks': random => joined(HEADER, repeated(message(`/${random()}`), ENDLESS)),
  'zero lengths': () => joined(HEADER, new Uint8Array(64 * KiB)),
  'lengths without end': () => joined(HEADER, new Uint8Array(64 * KiB).fill(0xff)),
  'a length of 2 GiB': () => joined(HEADER, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x07), new Uint8Array(MiB)),
  'a length of 1 MiB and all of it': () => joined(HEADER, Uint8Array.of(0x80, 0x80, 0x40), new Uint8Array(MiB)),
  'a message without newline': () => joined(HEADER, Uint8Array.of(7), new TextEncoder().encode('/noise.')),
  'half a header': () => HEADER.subarray(0, 10),
  'nothing behind the protocol': () => NOISE,
  'a Noise message of length zero': () => joined(NOISE, new Uint8Array(2)),
  'a Noise message of random bytes': random => joined(NOISE, Uint8Array.of(0xff, 0xff), bytes(random, 0xffff)),
  'Noise messages of random bytes without end': random => joined(NOISE, repeated(joined(Uint8Array.of(0, 32), bytes(random, 32)), ENDLESS)),
  'na, then random bytes': random => joined(NA, bytes(random, 64 * KiB)),
  'names with control characters': random => joined(HEADER, ...Array.from({ length: 10 }, () => message(controlCharacters(random)))),
  'control characters in place of the header': random => message(`/multistream/1.0.0${controlCharacters(random)}`)
}

const names = Object.keys(kinds)

export const garbage: Scenario[] = [
  {
    name: `garbage of ${names.length} kinds from dialers`,
    runs: 10 * names.length,
    concurrency: 6,
    timeout: 20_000,
    async prepare ({ defer, random }) {
      const { logger, lines } = logLines(defer)
      const listener = await createNode(defer, { listen: true, logger, connectionManager: { inboundUpgradeTimeout: DEADLINE } })
      const honest = await createNode(defer, { logger })
      const port = portOf(listener.getMultiaddrs()[0])

      // what libp2p takes to note the addresses of a node, also of one that has stopped
      defer(async () => new Promise(resolve => { setTimeout(resolve, 1_000) }))
      defer(async () => until(() => openSockets() === 0, 'no socket is left'))
      defer(async () => { await honest.hangUp(listener.peerId) })
      defer(async () => { await honest.services.ping.ping(listener.getMultiaddrs()) })

      return async run => {
        const socket = net.connect({ host: '127.0.0.1', port, localAddress: `127.0.0.${2 + run.index % 8}` })

        socket.on('error', () => {})
        socket.resume()
        await sendGarbage(run, socket, random)
        checkLog(lines)
      }
    }
  },
  {
    name: `garbage of ${names.length} kinds from listeners`,
    runs: 10 * names.length,
    concurrency: 6,
    timeout: 20_000,
    async prepare ({ defer, random }) {
      const { logger, lines } = logLines(defer)
      const dialer = await createNode(defer, { logger })

      defer(async () => new Promise(resolve => { setTimeout(resolve, 1_000) }))

      return async run => {
        const { port, next } = await rawPeer(run.defer, { allowHalfOpen: false, host: '0.0.0.0' })
        const begin = performance.now()
        const dialed = dialer.dial(toMultiaddr(`/ip4/127.0.0.${2 + run.index % 8}/tcp/${port}`), { signal: AbortSignal.timeout(DEADLINE) })
          .then(() => { throw new Error('connected to garbage') }, err => err)
        const socket = await next()

        socket.resume()
        await sendGarbage(run, socket, random)

        const error: Error = await within(DEADLINE + SLACK, 'the dial', dialed)
        run.measured('ms to reject', performance.now() - begin)

        if (error.message === 'connected to garbage') {
          throw error
        }

        checkLog(lines)
      }
    }
  }
]

/** Resolves when the connection is closed */
async function sendGarbage ({ index, injected, measured }: Run, socket: net.Socket, random: () => number): Promise<void> {
  const kind = names[index % names.length]
  const begin = performance.now()

  socket.write(kinds[kind](random))
  injected()

  await within(DEADLINE + SLACK, `cutting ${kind}`, socket.closed ? Promise.resolve() : pEvent(socket, 'close', { rejectionEvents: [] }))
  measured('ms to be cut', performance.now() - begin)
}

function checkLog (lines: string[]): void {
  const raw = rawLines(lines.splice(0))

  if (raw.length > 0) {
    throw new Error(`in the log: ${JSON.stringify(raw[0])}`)
  }
}

function bytes (random: () => number, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256))
}

function repeated (unit: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(length - length % unit.byteLength).map((_, index) => unit[index % unit.byteLength])
}
