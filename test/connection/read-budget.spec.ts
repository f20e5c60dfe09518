import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { ReadBudget } from '../../src/event-loop/read-budget.ts'
import { MiB, collect, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { perTurn, work } from '../fixtures/turns.ts'
import { closed, until, untilStill } from '../fixtures/waiting.ts'
import { sendFromThread } from '../fixtures/workers.ts'
import type { Tallier } from '../fixtures/bytes.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Worker } from 'node:worker_threads'

/** For how long of a turn connections read, in ms */
const BUDGET = 10

const DATA = payload(16 * MiB)

/** After so many bytes the kernel has found out that it should hold megabytes */
const FAST = 8 * MiB

describe('what takes long to deal with', function () {
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

  /** Connections whose peers, in threads of their own, have sent what fits, and hold more */
  async function flooded (count: number): Promise<[MultiaddrConnection[], Worker[]]> {
    const { port, next } = await rawTransport(defer).listen()
    const conns: MultiaddrConnection[] = []
    const peers: Worker[] = []

    for (let i = 0; i < count; i++) {
      peers.push(sendFromThread(defer, port, DATA))
      const conn = await next()

      conn.pause()
      await untilStill(() => conn.readBufferLength)
      conns.push(conn)
    }

    return [conns, peers]
  }

  it('is read in many turns of the event loop, which connections share', async () => {
    const [conns] = await flooded(4)
    const counts = perTurn(defer, conns)
    const received = conns.map(conn => slowly(conn, 0.3 * BUDGET))

    conns.forEach(conn => { conn.resume() })
    await until(() => received.every(({ bytes }) => bytes > 1.25 * FAST), 'much was read by each')

    // Four by all of them, one more by each of the others, and what Node had read meanwhile of each. In most turns: the
    // system may stop this process in the midst of one
    const [most] = counts.slice(-20).sort((a, b) => b - a).slice(5)

    expect(most).to.be.at.most(4 + 3 + 4)
  })

  it('is not what timers do before sockets are read again', () => {
    const budget = new ReadBudget()

    budget.spend()
    work(1.2 * BUDGET)
    expect(budget.isSpent).to.be.true()

    budget.renew()
    work(1.2 * BUDGET)
    budget.spend()
    expect(budget.isSpent).to.be.false()
  })

  it('arrives whole', async () => {
    const [[conn]] = await flooded(1)
    const received = slowly(conn, 0.3 * BUDGET)

    conn.resume()
    await closed(conn)

    expect(received.result()).to.deep.equal(tally(DATA))
  })

  it('stays where it is when the reader pauses', async () => {
    const [[conn]] = await flooded(1)
    const received = collect(conn)

    conn.addEventListener('message', () => {
      work(2 * BUDGET)
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
    const [[conn], [peer]] = await flooded(1)
    const told = pEvent(peer, 'message')

    conn.addEventListener('message', () => {
      work(2 * BUDGET)
      void conn.close()
    }, { once: true })
    conn.resume()
    await closed(conn)

    expect(await told).to.equal('closed')
  })
})
