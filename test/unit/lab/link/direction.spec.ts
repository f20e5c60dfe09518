import { expect } from 'aegir/chai'
import { Bottleneck } from '../../../lab/link/bottleneck.ts'
import { Direction } from '../../../lab/link/direction.ts'
import { Histogram } from '../../../lab/link/histogram.ts'
import type { LinkShape } from '../../../lab/link/link.ts'

const PACKETS = 10_000

/** The sizes of packets say which they are */
async function delivered (shape: LinkShape, packets: number): Promise<{ sizes: number[], direction: Direction }> {
  const sizes: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const direction = new Direction(shape, ({ byteLength }) => {
    if (byteLength === packets) {
      resolve()
    }

    sizes.push(byteLength)
  })

  for (let size = 0; size < packets; size++) {
    direction.push(Buffer.alloc(size))
  }

  direction.lose({ percent: 0, seed: 0 })
  direction.push(Buffer.alloc(packets))
  await promise

  return { sizes, direction }
}

describe('benchmarks: a direction of a link', () => {
  it('loses the share of packets that it is told to, and the same ones with the same seed', async () => {
    const shape = { delay: 0, loss: { percent: 5, seed: 7 } }
    const [one, same, other] = [await delivered(shape, PACKETS), await delivered(shape, PACKETS), await delivered({ delay: 0, loss: { percent: 5, seed: 8 } }, PACKETS)]

    expect(one.direction.traffic().lost).to.be.within(PACKETS * 0.04, PACKETS * 0.06)
    expect(one.sizes).to.have.lengthOf(PACKETS + 1 - one.direction.traffic().lost)
    expect(same.sizes).to.deep.equal(one.sizes)
    expect(other.sizes).to.not.deep.equal(one.sizes)
  })

  it('loses nothing and keeps the order where it is not told to lose', async () => {
    const { sizes, direction } = await delivered({ delay: 1 }, 100)

    expect(sizes).to.deep.equal(Array.from({ length: 101 }, (_, size) => size))
    expect(direction.traffic()).to.deep.include({ packets: 101, bytes: 5_050, lost: 0, dropped: 0 })
  })

  it('drops what does not fit the queue and tells how long the rest waited', () => {
    // 1,000 B take 8 ms
    const direction = new Direction({ delay: 0, bottleneck: { rate: 1, queue: 10_000 } }, () => {})

    for (let i = 0; i < 20; i++) {
      direction.push(Buffer.alloc(1_000))
    }

    const { packets, dropped, queued } = direction.traffic()
    direction.clear()

    expect({ packets, dropped }).to.deep.equal({ packets: 10, dropped: 10 })
    expect(queued[0]).to.be.within(30, 42)
    expect(queued[2]).to.be.within(70, 82)
  })

  it('lets a packet leave when all before it and its own bytes have', () => {
    const bottleneck = new Bottleneck({ rate: 8, queue: 3_000 })

    expect(bottleneck.departure(1_000, 100)).to.equal(101)
    expect(bottleneck.departure(1_000, 100)).to.equal(102)
    expect(bottleneck.departure(1_000, 100)).to.equal(103)
    expect(bottleneck.departure(1_000, 100)).to.be.undefined()
    expect(bottleneck.departure(1_000, 103)).to.equal(104)
    expect(bottleneck.departure(1_000, 200)).to.equal(201)
  })

  it('counts times in whole ms', () => {
    const histogram = new Histogram()

    expect(histogram.percentile(50)).to.equal(0)

    for (let ms = 1; ms <= 100; ms++) {
      histogram.add(ms + 0.2)
    }

    expect([0, 50, 95, 100].map(percent => histogram.percentile(percent))).to.deep.equal([1, 50, 95, 100])
  })
})
