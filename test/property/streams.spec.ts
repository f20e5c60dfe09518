import { setTimeout as delay } from 'node:timers/promises'
import { identify } from '@libp2p/identify'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { pEvent } from 'p-event'
import { turns, readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { collectRejections } from '../fixtures/rejections.ts'
import { within } from '../fixtures/waiting.ts'
import { bareNode, echo, stacks } from '../negotiation/fixtures/stacks.ts'
import { RUNS, TIME_LIMIT, seed } from './fixtures/check.ts'
import type { StackName } from '../negotiation/fixtures/stacks.ts'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

/** What the listener does with a protocol. It tells of `gone` in identify and has no handler for it any more */
const PROTOCOLS = ['echo', 'answer', 'reset', 'gone', 'unknown'] as const

/** What an application does with a stream; it may send in between */
const ENDINGS = ['await close, then read', 'close without await, then read', 'read late', 'pause, resume and read', 'abort'] as const

const script = fc.record({
  protocol: fc.constantFrom(...PROTOCOLS),
  sends: fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 4 }),
  ending: fc.constantFrom(...ENDINGS),
  vouches: fc.boolean(),
  limit: fc.constantFrom(undefined, 1)
})

type Script = typeof script extends fc.Arbitrary<infer T> ? T : never

/** What an application sees of a stream: the names of errors, and how much it has read */
interface Seen {
  opened: string
  read?: number | string
  closed?: string
  rejections: number
  connection: string
}

/** What a reader waits for has arrived already: it is read in this time, in ms, or never */
const NEVER = 250

/** Fewer runs than these are no test */
const LEAST_RUNS = 5

interface Pair {
  dialer: Libp2p
  listener: Libp2p
}

describe(`properties of streams (seed ${seed})`, function () {
  this.timeout(TIME_LIMIT * 3 + 60_000)

  const defer = cleanUpAfterEach()
  const rejections = collectRejections()

  const name = (protocol: Script['protocol']): string => `/test/${protocol}/1.0.0`

  async function pair (stack: StackName): Promise<Pair> {
    const listener = await bareNode(defer, {
      ...stacks['@libp2p/tcp 11'](),
      services: { identify: identify() },
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }
    })

    await listener.handle(name('echo'), echo)
    await listener.handle(name('answer'), async stream => {
      const { bytes } = await readToEnd(stream)

      stream.send(new Uint8Array(1 + bytes % 1_000))
      await stream.close()
    })
    await listener.handle(name('reset'), stream => { stream.abort(new Error('no')) })

    return { listener, dialer: await bareNode(defer, { ...stacks[stack](), services: { identify: identify() } }) }
  }

  /** On a new connection, to a peer that has told its protocols and given one of them up since */
  async function run ({ dialer, listener }: Pair, scripts: Script[]): Promise<Seen[]> {
    await listener.handle(name('gone'), () => {})

    const identified = pEvent(dialer, 'peer:identify')
    const connection = await dialer.dial(listener.getMultiaddrs())
    const seen: Seen[] = []

    await identified
    await listener.unhandle(name('gone'))

    for (const script of scripts) {
      rejections.length = 0

      const what = await useStream(connection, script)

      await turns(2)
      seen.push({ ...what, rejections: rejections.length, connection: connection.status })
    }

    await connection.close()

    return seen
  }

  async function useStream (connection: Connection, { protocol, vouches, limit, sends, ending }: Script): Promise<Pick<Seen, 'opened' | 'read' | 'closed'>> {
    let stream: Stream

    try {
      stream = await connection.newStream(name(protocol), {
        negotiateFully: vouches ? false : undefined,
        maxOutboundStreams: limit
      })
    } catch (err: any) {
      return { opened: err.name }
    }

    // a reset may come while `newStream` runs
    const close = stream.status === 'open' ? pEvent<'close', { error?: Error }>(stream, 'close') : Promise.resolve({ error: undefined })
    const read = await use(stream, close, sends, ending)

    if (read === 'no end') {
      // what is to be compared is told; it would block the next of its protocol
      stream.abort(new Error('enough'))

      return { opened: 'yes', read }
    }

    const { error } = await within(5_000, `the end of ${protocol}, ${ending}`, close)

    return { opened: 'yes', read, closed: error?.name }
  }

  /** @returns how much was read, the name of the first error, or 'no end' */
  async function use (stream: Stream, close: Promise<unknown>, sends: number[], ending: Script['ending']): Promise<number | string> {
    try {
      sends.forEach(bytes => { stream.send(new Uint8Array(bytes)) })

      switch (ending) {
        case 'abort':
          stream.abort(new Error('enough'))
          return 'aborted'
        case 'await close, then read':
          await stream.close()
          break
        case 'close without await, then read':
          void stream.close()
          break
        case 'read late': {
          const ended = pEvent(stream, 'remoteCloseWrite', { rejectionEvents: [] })

          void stream.close()
          await within(5_000, 'the end of what the peer sends', Promise.race([ended, close]))
          return await Promise.race([read(stream), delay(NEVER, 'no end')])
        }
        default:
          stream.pause()
          void stream.close()
          await turns(2)
          stream.resume()
      }

      return await within(5_000, `reading, ${ending}`, read(stream))
    } catch (err: any) {
      return err.name ?? 'CloseEvent'
    }
  }

  async function read (stream: Stream): Promise<number> {
    return (await readToEnd(stream)).bytes
  }

  /**
   * A refusal comes after `newStream` has resolved, or while it runs: a difference that
   * docs/how-it-works.md names. What a peer resets may be reset before or after a step of the
   * application, with every stack.
   */
  function essence (seen: Seen, { protocol, ending }: Script): unknown {
    if (protocol === 'reset' || (protocol !== 'echo' && protocol !== 'answer' && ending === 'abort')) {
      return { rejections: seen.rejections, connection: seen.connection }
    }

    // where the stream has ended before `newStream` resolves, its 'close' event was before that
    const isRefused = [seen.opened, seen.closed, seen.read].includes('UnsupportedProtocolError')

    return isRefused ? { refused: true, rejections: seen.rejections, connection: seen.connection } : seen
  }

  /**
   * A `for await` that begins behind the peer's FIN never ends with the official transport, if
   * there is something to read. With our muxer it reads all and ends.
   */
  function promised (official: Seen, { protocol, ending, sends }: Script): Seen {
    if (ending !== 'read late' || official.read !== 'no end') {
      return official
    }

    const sent = sends.reduce((sum, bytes) => sum + bytes, 0)

    return { ...official, read: protocol === 'answer' ? 1 + sent % 1_000 : sent, closed: undefined }
  }

  for (const stack of ['tcp() alone', 'all of ours'] as const) {
    it(`${stack}: an application sees what it sees with the official transport, whatever it does`, async () => {
      const [official, ours] = [await pair('@libp2p/tcp 11'), await pair(stack)]
      const deadline = performance.now() + TIME_LIMIT
      let runs = 0

      await fc.assert(fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 8 }), async scripts => {
        // fast-check's own limit would interrupt the first runs of a busy machine too
        if (runs++ >= LEAST_RUNS && performance.now() > deadline) {
          return
        }

        const expected = await run(official, scripts)
        const seen = await run(ours, scripts)

        expect(seen.map((seen, i) => essence(seen, scripts[i]))).to.deep.equal(expected.map((seen, i) => essence(stack === 'all of ours' ? promised(seen, scripts[i]) : seen, scripts[i])))
      }), {
        seed,
        path: process.env.FC_PATH,
        numRuns: RUNS
      })
    })
  }
})
