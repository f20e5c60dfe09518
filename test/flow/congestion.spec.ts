import { expect } from 'aegir/chai'
import { measureBusyLine } from '../../benchmarks/load/busy-line.ts'
import { sum } from '../lab/statistics.ts'
import type { LoadRow } from '../../benchmarks/load/report.ts'

/** Of a packet of a link between namespaces, in bytes */
const PAYLOAD = 1_448

const LINE = { rate: 2, roundTrip: 200, queue: 50_000, congestion: 'bbr', uploads: 1, refill: 'microtask' } as const
const SECONDS = 12

describe('an upload of a stock peer to ours, over kernel TCP and a line with a short queue', function () {
  this.timeout(60_000)

  // with credit that is too little BBR never ends its startup, and a third is lost
  it('loses few packets with BBR', async function () {
    let row: LoadRow

    try {
      ({ row } = await measureBusyLine(LINE, { dialer: 'official', listener: 'ours' }, SECONDS))
    } catch (err: any) {
      if (!`${err.message}`.startsWith('No link')) {
        throw err
      }

      // eslint-disable-next-line no-console
      console.warn(`      skipped, since this machine makes no such link: ${err.message}`)
      return this.skip()
    }

    expect(row.error).to.equal(undefined)
    expect(row.dropped * PAYLOAD / sum(row.arrived.uploads)).to.be.below(0.15)
  })
})
