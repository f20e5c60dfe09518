import { identify } from '@libp2p/identify'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { pEvent } from 'p-event'
import { turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { within } from '../fixtures/waiting.ts'
import { bareNode, echo, stacks } from '../negotiation/fixtures/stacks.ts'
import { seed } from './fixtures/check.ts'
import type { StackName } from '../negotiation/fixtures/stacks.ts'
import type { Libp2p, Stream } from '@libp2p/interface'

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

const RUNS = 150
const TIME_LIMIT = 10_000

describe(`properties of streams (seed ${seed})`, function () {
  this.timeout(120_000)

  const defer = cleanUpAfterEach()
  let rejections = 0
  const onRejection = (): void => { rejections++ }

  beforeEach(() => { process.on('unhandledRejection', onRejection) })
  afterEach(() => { process.off('unhandledRejection', onRejection) })

  const name = (protocol: Script['protocol']): string => `/test/${protocol}/1.0.0`

  async function listen (): Promise<Libp2p> {
    const listener = await bareNode(defer, {
      ...stacks['@libp2p/tcp 11'](),
      services: { identify: identify() },
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }
    })

    await listener.handle(name('echo'), echo)
    await listener.handle(name('answer'), async stream => {
      let bytes = 0

      for await (const data of stream) {
        bytes += data.byteLength
      }

      stream.send(new Uint8Array(1 + bytes % 1_000))
      await stream.close()
    })
    await listener.handle(name('reset'), stream => { stream.abort(new Error('no')) })
    await listener.handle(name('gone'), () => {})

    return listener
  }

  async function run (stack: StackName, scripts: Script[]): Promise<Seen[]> {
    const listener = await listen()
    const dialer = await bareNode(defer, { ...stacks[stack](), services: { identify: identify() } })
    const identified = pEvent(dialer, 'peer:identify')
    const connection = await dialer.dial(listener.getMultiaddrs())
    const seen: Seen[] = []

    await identified
    await listener.unhandle(name('gone'))

    for (const { protocol, vouches, limit, sends, ending } of scripts) {
      rejections = 0

      try {
        const stream = await connection.newStream(name(protocol), {
          negotiateFully: vouches ? false : undefined,
          maxOutboundStreams: limit
        })
        // a reset may come while `newStream` runs
        const close = stream.status === 'open' ? pEvent<'close', { error?: Error }>(stream, 'close') : Promise.resolve({ error: undefined })
        const read = await use(stream, sends, ending)
        const { error } = await within(5_000, `${stack}: the end of ${protocol}, ${ending}`, close)

        await turns(2)
        seen.push({ opened: 'yes', read, closed: error?.name, rejections, connection: connection.status })
      } catch (err: any) {
        seen.push({ opened: err.name, rejections, connection: connection.status })
      }
    }

    await Promise.all([dialer.stop(), listener.stop()])

    return seen
  }

  /** @returns how much was read, or the name of the first error */
  async function use (stream: Stream, sends: number[], ending: Script['ending']): Promise<number | string> {
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
        case 'read late':
          void stream.close()
          await turns(3)
          break
        default:
          stream.pause()
          void stream.close()
          await turns(2)
          stream.resume()
      }

      let bytes = 0

      for await (const data of stream) {
        bytes += data.byteLength
      }

      return bytes
    } catch (err: any) {
      return err.name ?? 'CloseEvent'
    }
  }

  /**
   * A refusal comes after `newStream` has resolved, or while it runs: a difference that
   * docs/streams.md names. What a peer resets may be reset before or after a step of the
   * application, with every stack.
   */
  function essence (seen: Seen, { protocol, ending }: Script): unknown {
    if (protocol === 'reset' || (protocol !== 'echo' && protocol !== 'answer' && ending === 'abort')) {
      return { rejections: seen.rejections, connection: seen.connection }
    }

    const isRefused = [seen.opened, seen.closed].includes('UnsupportedProtocolError')

    return isRefused ? { refused: true, rejections: seen.rejections, connection: seen.connection } : seen
  }

  for (const stack of ['tcp() alone', 'tcp() with both decorators'] as const) {
    it(`${stack}: an application sees what it sees with the official transport, whatever it does`, async () => {
      await fc.assert(fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 8 }), async scripts => {
        const [official, ours] = [await run('@libp2p/tcp 11', scripts), await run(stack, scripts)]

        expect(ours.map((seen, i) => essence(seen, scripts[i])))
          .to.deep.equal(official.map((seen, i) => essence(seen, scripts[i])))
      }), {
        seed,
        path: process.env.FC_PATH,
        numRuns: RUNS,
        interruptAfterTimeLimit: TIME_LIMIT,
        markInterruptAsFailure: false
      })
    })
  }
})
