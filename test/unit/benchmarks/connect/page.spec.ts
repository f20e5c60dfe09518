import { expect } from 'aegir/chai'
import { connectChart } from '../../../../benchmarks/connect/chart.ts'
import { connectMarkdown } from '../../../../benchmarks/connect/markdown.ts'
import { environment } from '../../../../benchmarks/report/environment.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import type { Run } from '../../../../benchmarks/connect/interleave.ts'
import type { ConnectReport } from '../../../../benchmarks/connect/report.ts'

function madeUpRuns (rival: string, trip: number): Run[] {
  return Array.from({ length: 5 }, (_, index) => {
    const total = 3 * trip + index

    return { rival, run: index + 1, sample: { connect: trip, security: trip, muxer: 0, stream: index, firstByte: trip, total, close: 2 } }
  })
}

const report: ConnectReport = {
  benchmark: 'connect',
  ...environment(),
  seed: 7,
  rivals: ['official', 'ours', 'gone'].map(name => ({ name, title: `the ${name} stack`, versions: { libp2p: '3.3.11' } })),
  skipped: [{ rival: 'v9', reason: 'no network' }],
  links: [{
    kind: 'relay',
    title: 'a link that is made up',
    hiddenRoundTrips: 0,
    roundTrip: 80,
    runs: [...madeUpRuns('official', 81), ...madeUpRuns('ours', 80), { rival: 'gone', run: 1, failure: 'it broke' }],
    summary: []
  }]
}

describe('benchmarks: connect page', () => {
  it('draws each stack with its steps, and none that was not measured', async () => {
    const svg = await renderSvg(connectChart(report))

    expect(svg).to.include('>the official stack<')
    expect(svg).to.include('>242 ms, 3.0 round trips<')
    expect(svg).to.include('>80 ms round trip (relay)<')
    expect(svg).to.include('>security<')
    expect(svg).to.not.include('the gone stack')
    expect(svg).to.not.include('NaN')
  })

  it('lists totals, versions and what was left out, and warns of noise', () => {
    const page = connectMarkdown(report)

    expect(page).to.match(/^\| the ours stack \| 80 \| 80 \| 2\.0 \| 80 \| 242 \|/m)
    expect(page).to.include('- the ours stack: libp2p 3.3.11')
    expect(page).to.include('- v9 was left out: no network')
    expect(page).to.include('> the ours stack and the official stack differ by 1.2 %')
    expect(page).to.include('Seed 7.')
  })
})
