import { StreamResetError } from '@libp2p/interface'
import { expect } from 'aegir/chai'
import { KiB, MiB, collect, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { perTurn, work } from '../fixtures/turns.ts'
import { until, untilStill } from '../fixtures/waiting.ts'
import type { MultiaddrConnection, StreamCloseEvent } from '@libp2p/interface'
import type { Socket } from 'node:net'

/** How many connections there are at a time */
const MANY = 30

const GREETING = Buffer.from('hello')

/** As slow as one, and in several steps */
async function handshake (): Promise<void> {
  for (let i = 0; i < 5; i++) {
    work(1)
    await Promise.resolve()
  }
}

interface Ends {
  conns: MultiaddrConnection[]
  peers: Socket[]
}

describe('what comes first on many connections at once', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  /** Dialed connections and the sockets of their peers, in the same order */
  async function connected (): Promise<Ends> {
    const { addr, next } = await rawPeer(defer)
    const { dial } = rawTransport(defer)
    const conns: MultiaddrConnection[] = []
    const peers: Socket[] = []

    for (let i = 0; i < MANY; i++) {
      conns.push(await dial(addr))
      peers.push(await next())
    }

    return { conns, peers }
  }

  /** Accepted connections and the sockets of their peers, in the same order */
  async function accepted (): Promise<Ends> {
    const { port, next } = await rawTransport(defer).listen()
    const conns: MultiaddrConnection[] = []
    const peers: Socket[] = []

    for (let i = 0; i < MANY; i++) {
      peers.push(await rawClient(defer, port))
      conns.push(await next())
    }

    return { conns, peers }
  }

  function heard (counts: number[]): number {
    return counts.reduce((sum, count) => sum + count, 0)
  }

  for (const [name, connect] of Object.entries({ 'that were dialed': connected, 'that were accepted': accepted })) {
    it(`is handed on one at a time by connections ${name}`, async () => {
      const { conns, peers } = await connect()
      const counts = perTurn(defer, conns)

      conns.forEach(conn => { conn.addEventListener('message', handshake) })
      peers.forEach(peer => { peer.write(GREETING) })
      await until(() => heard(counts) === MANY, 'all were heard')

      expect(counts.filter(count => count > 0)).to.have.lengthOf.at.least(MANY / 2)
    })
  }

  it('does not hold up what comes later', async () => {
    const { conns, peers } = await connected()
    const first = perTurn(defer, conns)

    peers.forEach(peer => { peer.write(GREETING) })
    await until(() => heard(first) === MANY, 'all were heard')

    const second = perTurn(defer, conns)
    peers.forEach(peer => { peer.write(GREETING) })
    await until(() => heard(second) === MANY, 'all were heard')

    expect(second.filter(count => count > 0)).to.have.lengthOf.below(MANY / 2)
  })

  it('stays in order with what follows', async () => {
    const { conns, peers } = await connected()
    const data = payload(16 * KiB)
    const received = conns.map(conn => {
      conn.addEventListener('message', () => { work(1) })

      return collect(conn)
    })

    for (let at = 0; at < data.byteLength; at += KiB) {
      peers.forEach(peer => { peer.write(data.subarray(at, at + KiB)) })
      await new Promise<void>(resolve => { setImmediate(resolve) })
    }

    await until(() => received.every(({ bytes }) => bytes === data.byteLength), 'all has come')
    received.forEach(tallier => { expect(tallier.result()).to.deep.equal(tally(data)) })
  })

  for (const [name, end] of Object.entries({
    FIN: (peer: Socket) => peer.end(),
    RST: (peer: Socket) => peer.resetAndDestroy()
  })) {
    it(`is handed on before a ${name} that is right behind it`, async () => {
      const { conns, peers } = await connected()
      const heardBeforeEnd: boolean[] = conns.map(() => false)
      const ends: Array<StreamCloseEvent | undefined> = conns.map(() => undefined)

      conns.forEach((conn, i) => {
        let hasEnded = false

        conn.addEventListener('message', () => {
          heardBeforeEnd[i] = !hasEnded && ends[i] == null
          work(1)
        })
        conn.addEventListener('remoteCloseWrite', () => { hasEnded = true })
        conn.addEventListener('close', event => { ends[i] = event })
      })

      peers.forEach(peer => {
        peer.write(GREETING)
        end(peer)
      })
      await until(() => ends.every(event => event != null), 'all have ended')

      expect(heardBeforeEnd).to.deep.equal(conns.map(() => true))
      ends.forEach(event => {
        if (name === 'RST') {
          expect(event?.error).to.be.an.instanceOf(StreamResetError)
        } else {
          expect(event?.error).to.equal(undefined)
        }
      })
    })
  }

  it('can be answered by a reader that is asynchronous, though FIN is right behind it', async () => {
    const { conns, peers } = await connected()
    const answers = peers.map(() => '')

    conns.forEach(conn => {
      conn.addEventListener('message', async () => {
        for (let i = 0; i < 20; i++) {
          await Promise.resolve()
        }

        conn.send(GREETING)
      })
    })

    peers.forEach((peer, i) => {
      peer.on('data', data => { answers[i] += data.toString() })
      peer.end(GREETING)
    })
    await until(() => answers.every(answer => answer.length > 0), 'all have answered')

    expect(answers).to.deep.equal(answers.map(() => GREETING.toString()))
  })

  it('does not wait for as many turns where the process is busy', async () => {
    const { conns, peers } = await connected()
    const counts = perTurn(defer, conns)
    let immediate: NodeJS.Immediate
    const busy = (): void => {
      work(20)
      immediate = setImmediate(busy)
    }

    busy()
    defer(() => { clearImmediate(immediate) })
    peers.forEach(peer => { peer.write(GREETING) })
    await until(() => heard(counts) === MANY, 'all were heard')

    // a quarter of that time is enough for all, once there was such a turn
    expect(counts.filter(count => count > 0)).to.have.lengthOf.at.most(MANY / 5)
  })

  for (const [name, say] of Object.entries({
    'is forgotten': (peer: Socket) => peer.write(GREETING),
    'is forgotten with the FIN behind it': (peer: Socket) => peer.end(GREETING)
  })) {
    it(`${name} when the connection is closed or aborted meanwhile, and nobody else waits for it`, async () => {
      const { conns, peers } = await connected()
      const heard = new Set<number>()
      const ended: MultiaddrConnection[] = []
      const closing: Array<Promise<void>> = []

      conns.forEach((conn, i) => {
        conn.addEventListener('message', () => {
          heard.add(i)

          // the first one is heard before the others have something to wait with
          if (heard.size === 2) {
            ended.push(...conns.filter((_, i) => !heard.has(i)).slice(0, 2))
            ended[0].abort(new Error('Not needed any more'))
            closing.push(ended[1].close())
          }
        })
      })

      peers.forEach(peer => {
        peer.on('end', () => { peer.end() })
        say(peer)
      })
      await until(() => heard.size >= MANY - 2, 'all others were heard')
      await Promise.all(closing)
      await untilStill(() => heard.size)

      expect(heard.size).to.equal(MANY - 2)
      expect(ended.map(({ status }) => status)).to.deep.equal(['aborted', 'closed'])
    })
  }

  it('waits longer where the reader pauses meanwhile, and comes when it goes on', async () => {
    const { conns, peers } = await connected()
    const received = conns.map(collect)
    const total = (): number => received.reduce((sum, { bytes }) => sum + bytes, 0)

    conns.forEach(conn => {
      conn.addEventListener('message', () => {
        if (total() === GREETING.byteLength) {
          conns.forEach(conn => { conn.pause() })
        }
      })
    })

    peers.forEach(peer => { peer.write(GREETING) })
    expect(await untilStill(total)).to.equal(GREETING.byteLength)

    conns.forEach(conn => { conn.resume() })
    await until(() => total() === MANY * GREETING.byteLength, 'all was handed on')
  })

  it('does not grow while it waits', async () => {
    const { conns, peers } = await connected()
    const data = payload(16 * MiB)
    const lengths: number[] = []

    conns.forEach(conn => {
      conn.addEventListener('message', ({ data }) => {
        lengths.push(data.byteLength)
        work(20)
      }, { once: true })
    })

    // spread over the line, whichever end of it is the first
    const isFlood = (_: unknown, i: number): boolean => i % 10 === 0

    peers.forEach((peer, i) => { isFlood(peer, i) ? peer.end(data) : peer.write(GREETING) })

    const received = conns.filter(isFlood).map(collect)
    await until(() => received.every(({ bytes }) => bytes === data.byteLength), 'all has come')

    expect(Math.max(...lengths)).to.be.at.most(256 * KiB)
    received.forEach(tallier => { expect(tallier.result()).to.deep.equal(tally(data)) })
  })
})
