import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO } from '../fixtures/node.ts'
import { until, within } from '../fixtures/waiting.ts'
import { jain } from '../lab/statistics.ts'
import { line, openStream } from './fixtures/stacks.ts'
import { REFILLS, UPLOAD, takeUploads, upload } from './fixtures/uploads.ts'
import type { LineInit } from './fixtures/stacks.ts'
import type { Stream, StreamMessageEvent } from '@libp2p/interface'

const RATE = 16 * MiB

/** For how many bytes shares are compared. Windows may open in steps of a MiB, and over a few steps shares differ by chance */
const COMPARED = 24 * MiB

/** What the kernel and the line hold is gone in a second. Official never gets this far */
const PATIENCE = 30_000

async function echoes (stream: Stream, count: number): Promise<void> {
  const bytes = byteStream(stream)

  for (let i = 0; i < count; i++) {
    await bytes.write(new Uint8Array(100))
    await bytes.read({ bytes: 100 })
  }
}

/** While one stream uploads, an older one and one that is opened now echo messages */
async function echoesBesideUpload (init: LineInit & { by?: 'dialed' | 'accepted', refill?: string }): Promise<void> {
  const { dialer, listener, ...connections } = await line(defer, { bytesPerSecond: RATE, ...init })
  const connection = connections[init.by ?? 'dialed']
  const received = await takeUploads(init.by === 'accepted' ? dialer : listener)
  const old = await connection.newStream(ECHO)

  upload(await connection.newStream(UPLOAD), init.refill)
  await until(() => received[0] > MiB, 'the upload is under way')

  await within(PATIENCE, 'echoes', Promise.all([
    echoes(old, 3),
    connection.newStream(ECHO, { signal: AbortSignal.timeout(PATIENCE) }).then(async stream => echoes(stream, 3))
  ]))

  expect(connection.status).to.equal('open')
  connection.abort(new Error('The test is over'))
}

const defer = cleanUpAfterEach()

describe('js-libp2p #3463: streams share a busy connection', () => {
  for (const refill of Object.keys(REFILLS)) {
    it(`old and new streams beside one that is refilled ${refill}`, async () => {
      await echoesBesideUpload({ refill })
    })
  }

  it('on an accepted connection', async () => {
    await echoesBesideUpload({ by: 'accepted' })
  })

  for (const encrypter of ['tls', 'plaintext', 'optimistic(noise)'] as const) {
    it(`over ${encrypter}`, async () => {
      await echoesBesideUpload({ encrypter })
    })
  }

  it('gives four uploads the same share, however each is refilled', async () => {
    const { listener, dialed } = await line(defer, { bytesPerSecond: RATE })
    const received = await takeUploads(listener)

    for (const refill of Object.keys(REFILLS)) {
      upload(await dialed.newStream(UPLOAD), refill)
    }

    // by then the first upload has filled the line, and the windows are equal
    await until(() => received.length === 4 && received.every(bytes => bytes > 8 * MiB), 'all are under way', PATIENCE)

    const shares = await nextShares(received)

    dialed.abort(new Error('The test is over'))
    // one that has twice as much as the others makes it 0.89
    expect(jain(shares), `${shares}`).to.be.above(0.9)
  })

  it('cuts no message at the end of a turn', async () => {
    const { listener, dialed } = await line(defer)
    const { outgoing, incoming } = await openStream(dialed, listener)
    const lengths = new Set<number>()

    // longer than three turns
    for (let i = 0; i < 2_000; i++) {
      const message = pEvent<'message', StreamMessageEvent>(incoming, 'message')

      outgoing.send(new Uint8Array(100))
      lengths.add((await message).data.byteLength)
    }

    expect([...lengths]).to.deep.equal([100])
  })
})

/** What each upload brings, of the next {@link COMPARED} bytes */
async function nextShares (received: number[]): Promise<number[]> {
  const before = [...received]
  const shares = (): number[] => received.map((bytes, index) => bytes - before[index])

  await until(() => shares().reduce((sum, bytes) => sum + bytes) > COMPARED, 'they went on', PATIENCE)

  return shares()
}
