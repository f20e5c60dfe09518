import { tcp as officialTcp } from '@libp2p/tcp'
import { expect } from 'aegir/chai'
import { cleaningUp, cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { tcp } from '../fixtures/transport.ts'
import { ENCRYPTERS, ENDINGS, MOMENTS, MUXERS, QUICK_MOMENTS, cleanEnds } from './fixtures/readers.ts'
import type { Cell, Transport } from './fixtures/readers.ts'

const STREAMS = isThorough ? [1, 5, 50] : [5]

interface Choice {
  endings?: Array<Cell['ending']>
  moments?: Array<Cell['moment']>
  encrypters?: Array<Cell['encrypter']>
}

function keys <T extends object> (of: T): Array<keyof T> {
  return Object.keys(of) as Array<keyof T>
}

function all ({ endings = keys(ENDINGS), moments = keys(MOMENTS), encrypters = keys(ENCRYPTERS) }: Choice): Cell[] {
  const ways = keys(MUXERS).flatMap(muxer => STREAMS.map(streams => ({ muxer, streams })))
  const when = endings.flatMap(ending => moments.map(moment => ({ ending, moment })))

  return encrypters.flatMap(encrypter => when.flatMap(at => ways.flatMap(way => [
    { encrypter, ...at, ...way, by: 'dialer' },
    { encrypter, ...at, ...way, by: 'listener' }
  ] satisfies Cell[])))
}

function describeCell ({ ending, moment, encrypter, muxer, streams, by }: Cell): string {
  return `${ending} by the ${by} ${moment}, over ${encrypter} and ${muxer}, ${streams} streams`
}

/** All that an aborted connection was given reaches the kernel. TLS writes only the first piece of it before it aborts */
describe('a reader of a connection that is aborted ends with an error', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  for (const cell of all({ endings: ['abort'], moments: keys(QUICK_MOMENTS), encrypters: ['noise', 'plaintext'] })) {
    it(describeCell(cell), async () => {
      expect(await cleanEnds(defer, tcp() as unknown as Transport, cell)).to.deep.equal({ near: 0, far: 0 })
    })
  }
})

if (isThorough) {
  describe('readers of a connection that is aborted or stopped', function () {
    this.timeout(600_000)

    for (const encrypter of keys(ENCRYPTERS)) {
      it(`end no less often with an error than with the official transport: abort, ${encrypter}`, async () => {
        const cells = all({ endings: ['abort'], moments: keys(MOMENTS).filter(moment => moment !== 'in the middle of a long message'), encrypters: [encrypter] })
        const official = await countCleanEnds(officialTcp(), cells)

        expect(await countCleanEnds(tcp() as unknown as Transport, cells)).to.be.at.most(official)
      })

      it(`end: stop, or in the middle of long messages, ${encrypter}`, async () => {
        await countCleanEnds(tcp() as unknown as Transport, [
          ...all({ endings: ['stop'], encrypters: [encrypter] }),
          ...all({ endings: ['abort'], moments: ['in the middle of a long message'], encrypters: [encrypter] })
        ])
      })
    }
  })
}

async function countCleanEnds (transport: Transport, cells: Cell[]): Promise<number> {
  const counts: number[] = []

  for (const cell of cells) {
    await cleaningUp(async defer => {
      const { near, far } = await cleanEnds(defer, transport, cell)
      counts.push(near, far)
    })
  }

  return counts.reduce((sum, count) => sum + count, 0)
}
