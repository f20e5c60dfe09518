import { identify } from '@libp2p/identify'
import { memory } from '@libp2p/memory'
import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { MemoryDatastore } from 'datastore-core'
import { LevelDatastore } from 'datastore-level'
import { pEvent } from 'p-event'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'
import { SlowDatastore } from '../fixtures/slow-datastore.ts'
import { within } from '../fixtures/waiting.ts'
import { bareNode, stacks } from './fixtures/stacks.ts'
import type { StackName } from './fixtures/stacks.ts'
import type { ItAtOnce } from '../fixtures/all-at-once.ts'
import type { Stream } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

const COUNT = '/test/count/1.0.0'
const OFFICIAL = '@libp2p/tcp 11'
const DECORATED = 'all of ours'

/** Streams wait for them most of the time */
const SLOW = 'in memory that take 30 ms'

type Datastore = NonNullable<Libp2pOptions['datastore']>
/** Handlers that answer with the number of bytes that came before the end */
const readers: Record<string, (stream: Stream) => void | Promise<void>> = {
  'for await': async stream => {
    const { bytes } = await readToEnd(stream)

    stream.send(Uint8Array.of(bytes))
    await stream.close()
  },
  events: stream => {
    let bytes = 0

    stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
    stream.addEventListener('remoteCloseWrite', () => {
      stream.send(Uint8Array.of(bytes))
      void stream.close()
    })
  },
  byteStream: async stream => {
    const reader = byteStream(stream)
    let bytes = 0

    for (let data = await reader.read(); data != null; data = await reader.read()) {
      bytes += data.byteLength
    }

    await reader.write(Uint8Array.of(bytes))
    await stream.close()
  }
}

describe('a stream that is closed for writing at once', function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  async function levelDatastore (): Promise<Datastore> {
    const datastore = new LevelDatastore(await temporaryDirectory(defer))

    await datastore.open()
    defer(async () => datastore.close())

    return datastore
  }

  const stores: Record<string, () => Datastore | Promise<Datastore>> = {
    'in memory': () => new MemoryDatastore(),
    'in memory that take 1 ms': () => new SlowDatastore(1),
    [SLOW]: () => new SlowDatastore(30),
    'on disk': levelDatastore
  }

  const transports: Record<string, { options: Libp2pOptions, listen(): string }> = {
    TCP: { options: {}, listen: () => '/ip4/127.0.0.1/tcp/0' },
    'the memory transport': { options: { transports: [memory()] }, listen: () => `/memory/${Math.random()}` }
  }

  for (const [name, store] of Object.entries(stores)) {
    describe(`with peer stores ${name}`, () => {
      const itMay: ItAtOnce = name === SLOW ? testsAtOnce() : (title, test) => it(title, async () => test(defer))

      for (const [transport, { options, listen }] of Object.entries(transports)) {
        for (const listens of [OFFICIAL, DECORATED] as StackName[]) {
          for (const [reads, reader] of Object.entries(readers)) {
            itMay(`has its end read by ${reads} over ${transport} to ${listens}`, async defer => {
              const services = { identify: identify() }
              const listener = await bareNode(defer, { ...stacks[listens](), ...options, services, datastore: await store(), addresses: { listen: [listen()] } })
              const dialer = await bareNode(defer, { ...stacks[DECORATED](), ...options, services, datastore: await store() })
              const identified = pEvent(dialer, 'peer:identify')

              await listener.handle(COUNT, reader)
              const connection = await dialer.dial(listener.getMultiaddrs())

              // a new protocol, and then one that the peer is known to speak
              for (const negotiateFully of [false, undefined]) {
                const stream = await connection.newStream(COUNT, { negotiateFully })
                const answer = pEvent<'message', { data: { subarray(): Uint8Array } }>(stream, 'message')

                stream.send(new Uint8Array(10))
                await stream.close()
                expect((await within(5_000, 'the answer', answer)).data.subarray()).to.deep.equal(Uint8Array.of(10))
                await identified
              }
            })
          }
        }
      }
    })
  }
})
