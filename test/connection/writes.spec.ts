import { expect } from 'aegir/chai'
import { Uint8ArrayList } from 'uint8arraylist'
import { KiB, payload, tally, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialedPeer, rawPeer, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { straceWorks, trace } from '../fixtures/strace.ts'
import { until } from '../fixtures/waiting.ts'
import type { Socket } from 'node:net'

const skipped = straceWorks ? '' : ' (SKIPPED: strace is missing or not allowed)'

/** Before libuv 1.52 an empty write asks, behind the peer's FIN, whether it was a reset: see end-socket.ts */
const isResetAskedFor = Number(process.versions.uv.split('.')[1]) < 52

describe('fault 6: one write for what is sent with no await between', function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  async function writesOf (script: string, what: object, talk: (socket: Socket) => Promise<unknown>): Promise<number[]> {
    const { addr, port, next } = await rawPeer(defer)
    const child = await trace(defer, ['write', 'writev', 'sendto', 'sendmsg'], script, [addr, what])
    await talk(await next())
    const calls = await child.calls()

    return calls
      .filter(call => call.includes(`->127.0.0.1:${port}]`))
      .map(call => Number(/[=] (\d+)$/.exec(call)?.[1]))
      .filter(bytes => bytes > 0 || !isResetAskedFor)
  }

  const writesToSend = async (what: object): Promise<number> => (await writesOf('sender.ts', what, readAll)).length

  const writesToAnswer = async (questions: number, answer: { sends: number, parts: number, bytes: number }): Promise<number[]> =>
    writesOf('answerer.ts', answer, async socket => {
      for (let i = 1; i <= questions; i++) {
        socket.write('?')
        await until(() => {
          socket.read()
          return socket.bytesRead === i * answer.sends * answer.parts * answer.bytes
        }, 'an answer')
      }

      socket.end()
      await readAll(socket)
    })

  beforeEach(function () {
    if (!straceWorks) {
      this.skip()
    }
  })

  it(`1,000 sends of a four-part list, one a turn, are 1,000 writes${skipped}`, async () => {
    expect(await writesToSend({ sends: 1_000, parts: 4, bytes: 25, perTurn: 1 })).to.equal(1_000)
  })

  it(`20 sends with no await between are one write${skipped}`, async () => {
    expect(await writesToSend({ sends: 20, parts: 1, bytes: 100, perTurn: 20 })).to.equal(1)
  })

  it(`20 sends of a four-part list with no await between are one write${skipped}`, async () => {
    expect(await writesToSend({ sends: 20, parts: 4, bytes: 100, perTurn: 20 })).to.equal(1)
  })

  it(`20 sends in four batches of one turn are four writes: none waits for another${skipped}`, async () => {
    expect(await writesToSend({ sends: 20, parts: 1, bytes: 100, perTurn: 20, perGo: 5 })).to.equal(4)
  })

  it(`one send when the peer was heard is one write${skipped}`, async () => {
    expect(await writesToAnswer(10, { sends: 1, parts: 4, bytes: 100 })).to.deep.equal(Array(10).fill(400))
  })

  it(`20 sends when the peer was heard are two writes, the first at once${skipped}`, async () => {
    expect(await writesToAnswer(10, { sends: 20, parts: 4, bytes: 100 })).to.deep.equal(Array(10).fill([400, 7_600]).flat())
  })

  it(`one send followed by close() is one write${skipped}`, async () => {
    expect(await writesToSend({ sends: 1, parts: 4, bytes: 100, perTurn: 1 })).to.equal(1)
  })
})

describe('what send() was given', () => {
  const defer = cleanUpAfterEach()

  it('arrives as it was, although the caller writes into the buffer afterwards', async () => {
    const { addr, next } = await rawPeer(defer)
    const conn = await rawTransport(defer).dial(addr)
    const received = next().then(readAll)
    const sent = payload(20 * 100)
    const scratch = new Uint8Array(100)

    for (let i = 0; i < 20; i++) {
      scratch.set(sent.subarray(i * 100, (i + 1) * 100))
      conn.send(scratch)
      scratch.fill(0)
    }

    await conn.close()
    expect(await received).to.deep.equal(tally(sent))
  })

  it('arrives as it was also where the socket is full already', async () => {
    const { conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true })
    const sent: Uint8Array[] = []

    const isFull = (): boolean => conn.writableNeedsDrain

    const sendScratch = async (): Promise<void> => {
      const scratch = Buffer.from(payload(100))
      sent.push(Uint8Array.from(scratch))
      conn.send(sent.length % 2 === 0 ? scratch : new Uint8ArrayList(scratch.subarray(0, 50), scratch.subarray(50)))
      scratch.fill(0)
      await turns(1)
    }

    // once the kernel is full, some of both wait for the socket before the connection pushes back
    while (!isFull()) {
      const data = payload(16 * KiB)
      sent.push(data)
      conn.send(data)
      await turns(1)
      await sendScratch()
    }

    // from here on they wait in the connection
    for (let i = 0; i < 4; i++) {
      await sendScratch()
    }

    const received = readAll(socket)
    await conn.close()
    expect(await received).to.deep.equal(tally(Buffer.concat(sent)))
  })

  it('arrives in order, whatever the sizes', async () => {
    const { addr, next } = await rawPeer(defer)
    const conn = await rawTransport(defer).dial(addr)
    const received = next().then(readAll)
    const sizes = [1, 70_000, 2, 65_536, 65_535, 3, 200_000, 4, 65_537, 5]
    const sent = payload(sizes.reduce((sum, size) => sum + size, 0))
    let offset = 0

    for (const size of sizes) {
      conn.send(sent.subarray(offset, offset + size))
      offset += size
    }

    await conn.close()
    expect(await received).to.deep.equal(tally(sent))
  })
})
