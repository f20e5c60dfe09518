import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { Turns } from '../../src/yamux/turns.ts'
import { KiB, turns as eventLoopTurns } from '../fixtures/bytes.ts'
import type { Sender } from '../../src/yamux/turns.ts'

/** What a connection takes between two 'drain', in bytes */
const ROOM = 256 * KiB

interface Upload extends Sender {
  left: number
  sent: number
  frames: number[]
  send(): void
}

/** Streams that send messages of a size over a connection that drains again and again */
class Line {
  readonly turns: Turns
  #room = ROOM
  drained = 0

  constructor (frameBytes?: number) {
    this.turns = new Turns(() => frameBytes)
  }

  upload (left: number, size: number): Upload {
    const { turns } = this
    const line = this
    const upload: Upload = {
      served: 0,
      allowance: 0,
      hasBacklog: false,
      left,
      sent: 0,
      frames: [],
      takeTurn: () => { upload.send() },
      send: () => {
        while (upload.left > 0) {
          const bytes = Math.min(size, upload.left)
          const room = turns.room(upload, bytes)

          expect(room, 'no more than it asks for').to.be.at.most(bytes)

          if (room === 0) {
            upload.hasBacklog = true
            turns.wait(upload)
            return
          }

          upload.left -= room
          upload.sent += room
          upload.frames.push(room)
          line.#room -= room

          if (line.#room <= 0) {
            turns.onFull()
          }

          turns.onSent(upload, room)
        }

        upload.hasBacklog = false
      }
    }

    return upload
  }

  async drain (): Promise<void> {
    this.drained++
    this.#room = ROOM
    this.turns.onDrained()
    await eventLoopTurns(1)
  }
}

describe('the turns of streams', () => {
  it('serve all that is sent, and streams that always have more alike', async () => {
    const anUpload = fc.record({ total: fc.integer({ min: 1, max: 500 * KiB }), size: fc.integer({ min: 1_000, max: 200 * KiB }) })

    await fc.assert(fc.asyncProperty(fc.array(anUpload, { minLength: 1, maxLength: 8 }), fc.option(fc.integer({ min: 4 * KiB, max: 64 * KiB }), { nil: undefined }), async (inits, frameBytes) => {
      const line = new Line(frameBytes)
      const uploads = inits.map(({ total, size }) => line.upload(total, size))
      const total = inits.reduce((sum, { total }) => sum + total, 0)

      line.turns.onFull()
      uploads.forEach(upload => { upload.send() })

      for (let i = 0; i < 3 + 2 * total / ROOM; i++) {
        await line.drain()

        const busy = uploads.filter(({ left }) => left > 0).map(({ sent }) => sent)

        // a turn, and one message that was not cut, and what was sent while the line was full
        expect(Math.max(...busy) - Math.min(...busy, Infinity), 'apart').to.be.at.most(64 * KiB + 64 * KiB + 32 * KiB)
      }

      expect(uploads.map(({ sent }) => sent), `after ${line.drained}`).to.deep.equal(inits.map(({ total }) => total))
    }), { numRuns: 150, interruptAfterTimeLimit: 1_500, markInterruptAsFailure: false })
  })

  it('cut no message up to 64 KiB, and others into frames that one message of Noise has', async () => {
    for (const [size, most] of [[1_000, 1_000], [64 * KiB, 64 * KiB], [200 * KiB, 65_507]]) {
      const line = new Line()
      const uploads = [line.upload(400 * KiB, size), line.upload(400 * KiB, size)]

      line.turns.onFull()
      uploads.forEach(upload => { upload.send() })

      for (let i = 0; i < 10; i++) {
        await line.drain()
      }

      for (const { frames } of uploads) {
        expect(Math.max(...frames)).to.equal(most)
      }
    }
  })

  it('let one that had nothing to send pass a full connection with a little, and a busy one not', () => {
    const line = new Line()
    const busy = line.upload(10 * ROOM, 64 * KiB)
    const late = line.upload(40 * KiB, KiB)

    // an upload alone needs no turns
    busy.send()
    expect(busy.sent).to.be.at.least(ROOM)

    const { sent } = busy

    late.allowance = 64 * KiB
    late.send()
    expect(late.sent).to.equal(32 * KiB)
    busy.send()
    expect(busy.sent).to.equal(sent)
  })

  it('give none to a stream that has ended', async () => {
    const line = new Line()
    const upload = line.upload(ROOM, KiB)

    line.turns.onFull()
    upload.send()

    const { sent } = upload

    line.turns.remove(upload)
    await line.drain()
    expect(upload.sent).to.equal(sent)
  })
})
