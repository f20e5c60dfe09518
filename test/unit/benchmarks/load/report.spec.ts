import { expect } from 'aegir/chai'
import { loadResults } from '../../../../benchmarks/load/page.ts'
import { verdictsOf } from '../../../../benchmarks/load/verdicts.ts'
import { loadReport, loadRow } from '../fixtures/load-report.ts'
import type { Pair } from '../../../../benchmarks/load/report.ts'

const official: Pair = { dialer: 'official', listener: 'official' }
const ours: Pair = { dialer: 'ours', listener: 'ours' }

describe('benchmarks: the report of a busy line', () => {
  it('counts new streams of a dead connection that never came back as failed', () => {
    expect(loadRow(official, 13_000).stream).to.deep.include({ begun: 13, failed: 13 })
    expect(loadRow(ours, 60_000).stream).to.deep.include({ begun: 60, failed: 0 })
  })

  it('sums up what each pair achieves from 2 Mbit/s up, beside official on the same line', () => {
    const [stock, own] = verdictsOf(loadReport([
      loadRow(official, 13_000),
      loadRow(ours, 60_000, { arrived: { uploads: [1e6], early: 980 } }),
      loadRow(ours, 60_000, { uploads: 4, arrived: { uploads: [4, 4, 4, 8], early: 1_000 } }),
      loadRow(ours, 8_000, { rate: 1 })
    ]))

    expect(stock).to.deep.include({ lines: 1, lived: 0, begun: 13, failed: 13 })
    expect(own).to.deep.include({ lines: 2, lived: 2, failed: 0, ratio: 2, throughput: { least: 0.98, median: 0.98 } })
    expect(own.fairness).to.be.closeTo(0.893, 0.001)
  })

  it('keeps congestion controls apart, each beside official with the same one', () => {
    const verdicts = verdictsOf(loadReport([
      loadRow(official, 13_000),
      loadRow(ours, 60_000, { arrived: { uploads: [1e6], early: 900 } }),
      loadRow(official, 13_000, { congestion: 'bbr', arrived: { uploads: [1e6], early: 500 } }),
      loadRow(ours, 60_000, { congestion: 'bbr', arrived: { uploads: [1e6], early: 450 } })
    ]))

    expect(verdicts.map(({ congestion, lines, throughput }) => [congestion, lines, throughput?.least])).to.deep.equal([
      ['cubic', 1, undefined], ['cubic', 1, 0.9], ['bbr', 1, undefined], ['bbr', 1, 0.9]
    ])
  })

  it('says when a connection died and of what, and draws both charts', () => {
    const { page, charts } = loadResults(loadReport())

    expect(page).to.include('**dead at 13.0**').and.include('- official: TimeoutError: The operation was aborted due to timeout (1 times)')
    expect(Object.keys(charts)).to.deep.equal(['load', 'load-memory'])
  })

  it('draws no latencies where none were kept', () => {
    const { charts, page } = loadResults(loadReport([loadRow(ours, 60_000, { waits: undefined })]))

    expect(Object.keys(charts)).to.deep.equal(['load-memory'])
    expect(page).to.not.include('load.svg')
  })
})
