import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { MiB, collect, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { work } from '../fixtures/turns.ts'
import { closed, until, untilStill } from '../fixtures/waiting.ts'
import { sendFromThread } from '../fixtures/workers.ts'
import type { Tallier } from '../fixtures/bytes.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Worker } from 'node:worker_threads'

const DATA = payload(16 * MiB)

/** After so many bytes the kernel has found out that it should hold megabytes */
const FAST = 8 * MiB

describe('data that takes long to deal with', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  /** A reader that is as slow as this once the kernel holds much */
  function slowly (conn: MultiaddrConnection, ms: number): Tallier {
    const received = collect(conn)

    conn.addEventListener('message', () => {
      if (received.bytes > FAST) {
        work(ms)
      }
    })

    return received
  }

  /** A connection whose peer, in a thread of its own, has sent what fits, and holds more */
  async function flooded (): Promise<[MultiaddrConnection, Worker]> {
    const { port, next } = await rawTransport(defer).listen()
    const peer = sendFromThread(defer, port, DATA)
    const conn = await next()

    conn.pause()
    await untilStill(() => conn.readBufferLength)

    return [conn, peer]
  }

  it('arrives whole', async () => {
    const [conn] = await flooded()
    const received = slowly(conn, 3)

    conn.resume()
    await closed(conn)

    expect(received.result()).to.deep.equal(tally(DATA))
  })

  it('stays where it is when the reader pauses', async () => {
    const [conn] = await flooded()
    const received = collect(conn)

    conn.addEventListener('message', () => {
      work(20)
      conn.pause()
    }, { once: true })
    conn.resume()
    await until(() => received.bytes > 0, 'something was read')
    const { bytes } = received

    await untilStill(() => conn.readBufferLength)
    expect(received.bytes).to.equal(bytes)

    conn.resume()
    await closed(conn)
    expect(received.result()).to.deep.equal(tally(DATA))
  })

  it('is not waited for by close()', async () => {
    const [conn, peer] = await flooded()
    const told = pEvent(peer, 'message')

    conn.addEventListener('message', () => {
      work(20)
      void conn.close()
    }, { once: true })
    conn.resume()
    await closed(conn)

    expect(await told).to.equal('closed')
  })
})
