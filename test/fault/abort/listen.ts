import { noise } from '@libp2p/noise'
import { multiaddr } from '@multiformats/multiaddr'
import { pEvent } from 'p-event'
import { turns } from '../../fixtures/bytes.ts'
import { rawClient } from '../../fixtures/peers.ts'
import { passThrough, portOf } from '../../fixtures/raw.ts'
import { slowLookups } from '../../fixtures/slow-lookups.ts'
import { within } from '../../fixtures/waiting.ts'
import { dialer } from '../../negotiation/fixtures/dialer.ts'
import { withoutEarlyMuxer } from '../../negotiation/fixtures/early-muxer.ts'
import { HEADER, NOISE } from '../../negotiation/fixtures/proposals.ts'
import { stuckEncrypter } from '../stuck-encrypter.ts'
import { Stopwatch, handles, nothingLeft } from './promptly.ts'
import type { Dialer, DialerOptions } from '../../negotiation/fixtures/dialer.ts'
import type { Context, Run, Scenario } from '../scenario.ts'
import type { AbortOptions, Listener, Upgrader } from '@libp2p/interface'
import type { Socket } from 'node:net'

/** How long closing may take where nobody has to be waited for, in ms */
const PROMPT = 50

/** What takes longer never ends, in ms */
const HANGS = 1_000

/** libp2p's interface does not know the signal, which both transports take */
interface AbortableListener extends Listener {
  close(options?: AbortOptions): Promise<void>
}

interface Arranged {
  addr?: string
  upgrader?: Upgrader

  /** Comes so far with `listen`, and then the listener is closed */
  reach?(listener: Listener, listening: Promise<void>): unknown

  /** Instead of `listener.close()` */
  close?(listener: Listener): Promise<unknown>

  /** What happens after the listener is closed */
  afterwards?(): unknown
}

type Arrange = (run: Run) => Arranged | Promise<Arranged>

/** Sets up what all runs share */
type Point = (context: Context, listening: Dialer) => Arrange | Promise<Arrange>

const points: Record<string, Point> = {
  'in the tick of listen()': () => () => ({ reach () {} }),

  'before it is bound': () => () => ({
    async reach () {
      await Promise.resolve()
    }
  }),

  'in a look-up': ({ defer }) => {
    const hold = slowLookups(defer)

    return () => {
      const release = hold()

      return {
        addr: '/dns4/localhost/tcp/0',
        reach: async () => turns(5),
        afterwards: release
      }
    }
  },

  'when it listens': () => () => ({}),

  'while a peer is silent': inbound(async () => {}),

  'while the proposal is not whole': inbound(async client => {
    client.write(HEADER)
    await received(client, HEADER.byteLength)
  }),

  'in the handshake': inbound(async client => {
    client.write(Buffer.concat([NOISE, Uint8Array.of(0, 32), Buffer.alloc(32, 9)]))
    // the reply, and the second message of the handshake
    await received(client, NOISE.byteLength + 2 + 32)
  }),

  'in the negotiation of the muxer': async ({ defer }, { upgrader }) => {
    const secured: Array<() => void> = []
    const client = await dialer(defer, {
      connectionEncrypters: [stuckEncrypter(withoutEarlyMuxer(noise()), 'outbound', 'after', () => { secured.shift()?.() })]
    })

    return () => ({
      upgrader,
      reach: async (listener, listening) => {
        await listening

        const isSecured = new Promise<void>(resolve => { secured.push(resolve) })
        client.dial(listener.getAddrs()[0].toString()).catch(() => {})
        await isSecured
        await turns(20)
      }
    })
  },

  'in an upgrade that heeds no signal, until the signal of close()': stubborn(async () => new Promise(() => {})),
  'with an open connection, until the signal of close()': stubborn(async () => {})
}

/** What the listening node is made of */
const listeners: Record<string, () => DialerOptions> = {
  'in the negotiation of the muxer': () => ({ connectionEncrypters: [withoutEarlyMuxer(noise())] }),
  // what is destroyed after it must be gone when we look
  'in an upgrade that heeds no signal, until the signal of close()': () => ({ tcp: { closeTimeout: 50 } }),
  'with an open connection, until the signal of close()': () => ({ tcp: { closeTimeout: 50 } })
}

export const listenScenarios: Scenario[] = Object.entries(points).map(([point, arrangeAll]) => ({
  name: `listen, ${point}`,
  runs: 100,
  timeout: 20_000,
  async prepare (context) {
    const node = await dialer(context.defer, listeners[point]?.())
    const arrange = await arrangeAll(context, node)

    return async run => closeOnce(node, arrange, run)
  }
}))

async function closeOnce ({ transport }: Dialer, arrange: Arrange, run: Run): Promise<void> {
  const { addr = '/ip4/127.0.0.1/tcp/0', upgrader = passThrough(), reach, close = async listener => listener.close(), afterwards } = await arrange(run)
  const before = handles()
  const listener = transport.createListener({ upgrader })
  const listening = listener.listen(multiaddr(addr))
  listening.catch(() => {})

  if (reach == null) {
    await listening
  } else {
    await reach(listener, listening)
  }

  const stopwatch = new Stopwatch()
  run.injected()
  stopwatch.start()

  try {
    await within(HANGS, 'close()', close(listener))
    await within(HANGS, 'listen()', listening.catch(err => {
      if (err.name !== 'AbortError') {
        throw new Error(`listen() rejected with ${err.name}: ${err.message}`)
      }
    }))

    const ms = stopwatch.stop()
    run.measured('ms to close', ms)

    if (ms > PROMPT) {
      throw new Error(`closed after ${ms.toFixed()} ms`)
    }
  } finally {
    stopwatch.stop()
    await afterwards?.()
  }

  await turns(5)

  if (listener.getAddrs().length > 0) {
    throw new Error('listens again')
  }

  await nothingLeft(before)
}

/** A client that does so with an upgrader of libp2p before the listener is closed */
function inbound (act: (client: Socket) => Promise<void>): Point {
  return (_, { upgrader }) => run => {
    const upgrading = Promise.withResolvers<void>()

    return {
      upgrader: watched(upgrader, upgrading.resolve),
      reach: async (listener, listening) => {
        await listening

        const client = await connected(run, listener)
        await upgrading.promise
        await act(client)
      }
    }
  }
}

/** `close()` is told to wait no longer */
function stubborn (upgradeInbound: () => Promise<void>): Point {
  return () => run => {
    const upgrading = Promise.withResolvers<void>()

    return {
      upgrader: {
        upgradeInbound: async () => {
          upgrading.resolve()
          await upgradeInbound()
        }
      } as unknown as Upgrader,
      reach: async (listener, listening) => {
        await listening
        await connected(run, listener)
        await upgrading.promise
      },
      close: async listener => (listener as AbortableListener).close({ signal: AbortSignal.abort() }).catch(err => {
        if (err.name !== 'AbortError') {
          throw err
        }
      })
    }
  }
}

async function connected (run: Run, listener: Listener): Promise<Socket> {
  return rawClient(run.defer, portOf(listener.getAddrs()[0]), { allowHalfOpen: false })
}

/** Resolves when a socket has read so many bytes */
async function received (socket: Socket, bytes: number): Promise<void> {
  socket.resume()

  while (socket.bytesRead < bytes) {
    await pEvent(socket, 'data')
  }
}

function watched (upgrader: Upgrader, onInbound: () => void): Upgrader {
  return {
    upgradeInbound: async (maConn: any, options: any) => {
      onInbound()

      return upgrader.upgradeInbound(maConn, options)
    }
  } as unknown as Upgrader
}
