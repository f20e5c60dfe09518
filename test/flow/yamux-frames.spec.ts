import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { FrameScanner } from '../../src/flow/yamux-frames.ts'

describe('frames of yamux', () => {
  it('are found wherever what comes is cut', () => {
    const frame = fc.record({
      type: fc.constantFrom(0, 1, 2, 3),
      flags: fc.nat(0xffff),
      streamId: fc.nat(0xffffffff),
      length: fc.nat(300)
    })

    fc.assert(fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (frames, cuts) => {
      const bytes = Buffer.concat(frames.map(({ type, flags, streamId, length }) => {
        const header = Buffer.alloc(12 + (type === 0 ? length : 0), 0xff)

        header[0] = 0
        header[1] = type
        header.writeUInt16BE(flags, 2)
        header.writeUInt32BE(streamId, 4)
        header.writeUInt32BE(length, 8)

        return header
      }))
      const seen: unknown[] = []
      let data = 0
      const scanner = new FrameScanner({
        onHeader: header => { seen.push(header) },
        onData: (_, bytes) => { data += bytes }
      })

      for (let offset = 0, i = 0; offset < bytes.byteLength; i++) {
        const cut = cuts[i % cuts.length]

        scanner.scan(bytes.subarray(offset, offset + cut))
        offset += cut
      }

      expect(seen).to.deep.equal(frames)
      expect(data).to.equal(frames.reduce((sum, { type, length }) => sum + (type === 0 ? length : 0), 0))
    }))
  })
})
