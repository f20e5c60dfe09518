import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { Decoder } from '../../src/yamux/decoder.ts'
import { FrameType, HEADER_BYTES, MAX_FRAME_BYTES, readHeader, writeHeader } from '../../src/yamux/frames.ts'
import { Outbox } from '../../src/yamux/outbox.ts'
import { KiB, payload, turns } from '../fixtures/bytes.ts'
import { frame } from './fixtures/raw-peer.ts'
import type { Frame } from '../../src/yamux/decoder.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

const aNumber = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const aHeader = fc.record({ type: fc.nat(255), flags: fc.nat(65_535), streamId: aNumber, length: aNumber })
const aFrame = fc.record({ type: fc.nat(3), flags: fc.nat(15), streamId: fc.nat(9), bytes: fc.nat(40) })

function decodeAll (chunks: Uint8Array[], keeps: (streamId: number) => boolean = () => true): { frames: Frame[], parts: number } {
  const frames: Frame[] = []
  let parts = 0
  const decoder = new Decoder({
    onDataHeader: ({ streamId }) => keeps(streamId),
    onPart: (_, bytes) => { parts += bytes }
  })

  for (const chunk of chunks) {
    decoder.push(chunk)

    for (let frame = decoder.next(); frame != null; frame = decoder.next()) {
      frames.push(frame)
    }
  }

  return { frames, parts }
}

function cutAt (bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const ends = [0, ...cuts.map(cut => cut % (bytes.byteLength + 1)).sort((a, b) => a - b), bytes.byteLength]

  return ends.slice(1).map((end, i) => bytes.subarray(ends[i], end))
}

describe('frames of yamux', () => {
  it('have headers that are read as they were written, as others write them', () => {
    fc.assert(fc.property(aHeader, fc.nat(5), ({ type, flags, streamId, length }, at) => {
      const bytes = new Uint8Array(at + HEADER_BYTES)

      writeHeader(bytes.subarray(at), type, flags, streamId, length)
      expect(bytes.subarray(at)).to.deep.equal(frame(type, flags, streamId, length))
      expect(readHeader(bytes, at)).to.deep.equal({ type, flags, streamId, length })
    }))
  })

  it('are decoded alike wherever they are cut, and what is skipped leaves no trace', () => {
    fc.assert(fc.property(fc.array(aFrame), fc.array(fc.nat()), (inits, cuts) => {
      const datas = inits.map(({ bytes }) => payload(bytes))
      const bytes = new Uint8Array(Buffer.concat(inits.map(({ type, flags, streamId, bytes }, i) => {
        return frame(type, flags, streamId, bytes, type === FrameType.data ? datas[i] : undefined)
      })))
      const { frames, parts } = decodeAll(cutAt(bytes, cuts), streamId => streamId < 5)
      const isKept = ({ type, streamId }: typeof inits[number]): boolean => type === FrameType.data && streamId < 5

      expect(frames.map(({ data, ...header }) => ({ ...header, data: data?.slice() }))).to.deep.equal(inits.map((init, i) => {
        const { type, flags, streamId, bytes } = init

        return { type, flags, streamId, length: bytes, data: isKept(init) ? datas[i] : undefined }
      }))
      expect(parts).to.equal(inits.reduce((sum, init) => sum + (isKept(init) ? init.bytes : 0), 0))
    }), { numRuns: 300 })
  })

  it('that come in single bytes are not kept in single bytes', () => {
    const data = payload(100 * KiB)
    const [whole] = decodeAll([...frame(0, 0, 1, data.byteLength, data)].map(byte => new Uint8Array([byte]))).frames

    expect(whole.data?.slice()).to.deep.equal(data)
    expect([...whole.data ?? []].length).to.be.at.most(1_100)
  })

  it('of another version are refused as soon as the header is there', () => {
    expect(() => decodeAll([frame(0, 0, 1, 100, undefined, 2)])).to.throw().with.property('name', 'InvalidFrameError')
    expect(decodeAll([frame(0, 0, 1, 100, undefined, 2).subarray(0, HEADER_BYTES - 1)]).frames).to.have.length(0)
  })
})

describe('the outbox of a muxer', () => {
  function outbox (frameBytes?: number): { outbox: Outbox, sent: Uint8Array[] } {
    const sent: Uint8Array[] = []

    return {
      sent,
      outbox: new Outbox({
        send: (bytes: Uint8Array | Uint8ArrayList) => { sent.push(bytes.slice()) },
        frameBytes: () => frameBytes
      })
    }
  }

  it('sends all in order, and data as it was when it was added', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.record({ bytes: fc.oneof(fc.nat(100), fc.nat(MAX_FRAME_BYTES)), isUrgent: fc.boolean(), answer: fc.boolean(), pause: fc.boolean() }), { maxLength: 20 }), async inits => {
      const { outbox: box, sent } = outbox()
      const expected: Uint8Array[] = []

      for (const [i, { bytes, isUrgent, answer, pause }] of inits.entries()) {
        const data = payload(bytes)

        expected.push(frame(0, 0, i, bytes, data))
        box.add(0, 0, i, bytes, data, isUrgent)
        box.flushLarge()
        // its owner uses the buffer again
        data.fill(0)

        if (answer) {
          box.answer()
        }

        if (pause) {
          await turns(1)
        }
      }

      await turns(2)
      expect(Buffer.concat(sent).equals(Buffer.concat(expected))).to.equal(true)
    }), { numRuns: 100 })
  })

  it('sends small frames of a turn at once, and no more than one message of an encrypter', async () => {
    const { outbox: box, sent } = outbox()

    for (let i = 0; i < 1_000; i++) {
      box.add(0, 0, 1, 200, new Uint8Array(200))
    }

    expect(sent).to.have.length(Math.floor(1_000 / Math.floor((MAX_FRAME_BYTES + HEADER_BYTES) / 212)))
    await turns(2)
    sent.forEach(({ byteLength }) => { expect(byteLength).to.be.at.most(MAX_FRAME_BYTES + HEADER_BYTES) })
    expect(sent.reduce((sum, { byteLength }) => sum + byteLength, 0)).to.equal(212_000)
  })

  it('gathers no more than a frame over a line that is shared', async () => {
    const { outbox: box, sent } = outbox(1_000)

    for (let i = 0; i < 10; i++) {
      box.add(0, 0, 1, 600, new Uint8Array(600))
    }

    await turns(2)
    expect(sent).to.have.length(10)
  })

  it('has urgent frames leave before anything goes on that is awaited, and others at the end of the turn', async () => {
    const { outbox: box, sent } = outbox()

    box.add(1, 0, 1, 0, undefined, false)
    await Promise.resolve()
    expect(sent).to.have.length(0)
    box.add(2, 0, 0, 0)
    await Promise.resolve()
    expect(sent).to.have.length(1)
    expect(sent[0].byteLength).to.equal(2 * HEADER_BYTES)
  })

  it('answers one message at once, and gathers what the others of a turn are answered with', async () => {
    const { outbox: box, sent } = outbox()

    // a turn in which frames follow the answer, and one in which none does
    for (const extra of [2, 0]) {
      box.add(1, 0, 1, 0, undefined, false)
      box.answer()
      expect(sent, 'nobody waits for it').to.have.length(0)
      box.add(0, 0, 1, 1, new Uint8Array(1))
      box.answer()
      expect(sent).to.have.length(1)

      for (let i = 0; i < extra; i++) {
        box.add(0, 0, 1, 1, new Uint8Array(1))
        box.answer()
      }

      expect(sent.splice(0)).to.have.length(1)
      await Promise.resolve()
      expect(sent.splice(0).map(({ byteLength }) => byteLength)).to.deep.equal(extra > 0 ? [2 * (HEADER_BYTES + 1)] : [])
      await turns(2)
    }
  })

  it('sends nothing that was cleared', async () => {
    const { outbox: box, sent } = outbox()

    box.add(2, 0, 0, 0)
    box.clear()
    await turns(2)
    expect(sent).to.have.length(0)
  })
})
