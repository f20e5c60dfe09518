import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { KiB } from '../fixtures/bytes.ts'
import { cleanUpAfterAll } from '../fixtures/cleanup.ts'
import { until, within } from '../fixtures/waiting.ts'
import { InOrder, numbered } from '../flow/fixtures/numbered.ts'
import { line } from '../flow/fixtures/stacks.ts'
import { checkConcurrently } from './fixtures/concurrently.ts'
import type { Line } from '../flow/fixtures/stacks.ts'
import type { Stream } from '@libp2p/interface'

let scripts = 0

type Action = 'pause' | 'slow' | 'break' | 'abort' | 'half-close'

interface Script {
  reader: 'events' | 'for await'

  /** What is sent, one message after the other */
  sizes: number[]

  /** When so much of it has come, do this for so long */
  steps: Array<{ at: number, action: Action, ms: number }>
}

const script: fc.Arbitrary<Script> = fc.record({
  reader: fc.constantFrom('events' as const, 'for await' as const),
  sizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 2 * KiB }), fc.integer({ min: 1, max: 300 * KiB })), { minLength: 1, maxLength: 24 }),
  steps: fc.array(fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    action: fc.oneof(
      { arbitrary: fc.constantFrom('pause' as const, 'slow' as const, 'break' as const, 'half-close' as const), weight: 9 },
      { arbitrary: fc.constant('abort' as const), weight: 1 }
    ),
    ms: fc.integer({ min: 0, max: 60 })
  }), { maxLength: 5 })
})

function resume (stream: Stream): void {
  if (stream.readStatus === 'paused') {
    stream.resume()
  }
}

/** Follows a script at the end that reads. Resolves at the end of the stream */
async function read (stream: Stream, { reader, steps, sizes }: Script, taken: InOrder, onAbort: () => void): Promise<void> {
  const total = sizes.reduce((sum, size) => sum + size)
  const left = [...steps].sort((a, b) => a.at - b.at)
  const due = (): Script['steps'][number] | undefined => left.length > 0 && taken.bytes >= left[0].at * total ? left.shift() : undefined

  if (reader === 'events') {
    stream.addEventListener('message', ({ data }) => {
      taken.add(data)

      const step = due()

      if (step?.action === 'abort') {
        onAbort()
        stream.abort(new Error('The script says so'))
      } else if (step?.action === 'half-close') {
        stream.close().catch(() => {})
      } else if (step != null && stream.readStatus === 'readable') {
        stream.pause()
        setTimeout(() => { resume(stream) }, step.ms)
      }
    })

    return
  }

  for (let isOver = false; !isOver;) {
    isOver = true

    for await (const data of stream) {
      taken.add(data)

      const step = due()

      if (step?.action === 'abort') {
        onAbort()
        stream.abort(new Error('The script says so'))
        return
      } else if (step?.action === 'half-close') {
        await stream.close()
      } else if (step?.action === 'pause' && stream.readStatus === 'readable') {
        stream.pause()
        await delay(step.ms)

        resume(stream)
      } else if (step != null) {
        await delay(step.ms)
      }

      if (step?.action === 'break' && stream.readStatus === 'readable') {
        isOver = false
        break
      }
    }
  }
}

async function run ({ dialed, listener }: Line, script: Script): Promise<void> {
  const taken = new InOrder()
  const total = script.sizes.reduce((sum, size) => sum + size)
  const { promise, resolve, reject } = Promise.withResolvers<Stream>()
  let isAborted = false

  const protocol = `/test/script/${scripts++}`

  await listener.handle(protocol, stream => {
    resolve(stream)
    read(stream, script, taken, () => { isAborted = true }).catch(err => {
      if (!isAborted) {
        reject(err)
      }
    })
  })

  const outgoing = await dialed.newStream(protocol)
  let sent = 0

  try {
    for (const size of script.sizes) {
      const maySend = outgoing.send(numbered(sent, size))

      sent += size

      if (!maySend) {
        await outgoing.onDrain()
      }
    }

    await outgoing.close()
  } catch (err) {
    if (!script.steps.some(({ action }) => action === 'abort')) {
      throw err
    }
  }

  await promise
  await until(() => taken.bytes === total || isAborted, 'all is there')
  expect(dialed.status).to.equal('open')
  outgoing.abort(new Error('The script is over'))
  await listener.unhandle(protocol)
}

describe('a stream whose reader pauses, is slow, breaks, aborts and closes its end', () => {
  const defer = cleanUpAfterAll()

  it('gets every byte in order', async function () {
    const pair = await line(defer)

    await checkConcurrently(this, script, async script => within(20_000, 'a script', run(pair, script)))
  })
})
