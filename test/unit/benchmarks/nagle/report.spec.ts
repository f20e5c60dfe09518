import { expect } from 'aegir/chai'
import { CASES } from '../../../../benchmarks/nagle/cases.ts'
import { findings, notTheCause, tripsHeldBack, typicalRun } from '../../../../benchmarks/nagle/findings.ts'
import { nagleResults } from '../../../../benchmarks/nagle/page.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'

const report = nagleReport
const [link] = report.links

describe('benchmarks: Nagle report', () => {
  it('sums up segments and arrivals of each case', () => {
    const [nagle] = findings(link, CASES)

    expect(nagle).to.deep.include({ sizes: [1, 9], agreeing: 5, runs: 5, retransmissions: 0 })
    expect(nagle.first.median).to.equal(52)
    expect(nagle.last.median).to.equal(152)
    expect(nagle.arrivals).to.have.lengthOf(10)
    expect(tripsHeldBack(link, CASES, 10)).to.equal(1)
    expect(notTheCause(link, CASES)).to.have.lengthOf(1)
  })

  it('claims no effect that it did not see', () => {
    const runs = link.runs.map(run => run.case === 'ours-nagle' ? { ...link.runs[1], case: run.case } : run)

    expect(tripsHeldBack({ ...link, runs }, CASES, 10)).to.be.undefined()
    expect(notTheCause({ ...link, runs }, CASES)).to.be.empty()
    expect(nagleResults({ ...report, links: [{ ...link, runs }] }).page).to.not.include('#3029')
  })

  it('shows runs that differ, and retransmissions', () => {
    const [first, ...rest] = link.runs
    const odd = { ...first, segments: [{ ...first.segments[0], bytes: 10 }, { ...first.segments[0], retransmission: true }] }

    expect(nagleResults({ ...report, links: [{ ...link, runs: [odd, ...rest] }] }).page).to.match(/^\| raw net +\| false .* 1 \+ 9 .* 4 of 5 \| +1 \|$/m)
  })

  it('draws the run in the middle', () => {
    expect(typicalRun(link, 'ours-nagle').run).to.equal(2)
  })

  it('writes a page with every case and message', () => {
    const page = nagleResults(report).page

    expect(page).to.match(/^\| ours +\| false +\| 5 ms apart +\| +2 \| 1 \+ 9 +\| +52 \| +152 \| 150-154 \| +1\.5 \| +1\.0 \| +5 of 5 \| +0 \|$/m)
    expect(page).to.match(/^\| official \| false +\| 5 ms apart +\| +10 \| 10 × 1 /m)
    expect(page).to.match(/^\| +10 \| +152 \|/m)
    expect(page).to.include('(nagle.svg)')
    expect(page).to.include('@libp2p/tcp 11.0.28')
  })
})
