import { expect } from 'aegir/chai'
import { CASES } from '../../../../benchmarks/nagle/cases.ts'
import { nagleChart } from '../../../../benchmarks/nagle/chart.ts'
import { doubts, explain } from '../../../../benchmarks/nagle/explain.ts'
import { findings, typicalRun } from '../../../../benchmarks/nagle/findings.ts'
import { nagleMarkdown } from '../../../../benchmarks/nagle/markdown.ts'
import { nagleText } from '../../../../benchmarks/nagle/text.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import { nagleLink, nagleReport } from '../fixtures/nagle-report.ts'

const report = nagleReport
const [link] = report.links

describe('benchmarks: Nagle report', () => {
  it('sums up segments and arrivals of each case', () => {
    const [nagle] = findings(link, CASES)

    expect(nagle).to.deep.include({ sizes: [1, 9], agreeing: 5, runs: 5, retransmissions: 0 })
    expect(nagle.first.median).to.equal(52)
    expect(nagle.last.median).to.equal(152)
    expect(nagle.arrivals).to.have.lengthOf(10)
  })

  it('explains what was measured', () => {
    expect(explain(link, report)).to.deep.equal([
      'With Nagle\'s algorithm the first byte left alone and arrived after 52 ms; the rest waited for its ACK and were all there after 152 ms, 1.0 round trips later, in 1 segment of 9 bytes.',
      'With TCP_NODELAY each write left at once, in 10 segments: they arrived between 52 and 97 ms.',
      '@libp2p/tcp sets TCP_NODELAY even where `dialOpts.noDelay` is false: Nagle\'s algorithm is off there in every node, so it is not what made js-libp2p slower (issue #3029).',
      '10 sends in one tick of ours left as 1 segment of 10 bytes, those of @libp2p/tcp as 10 segments and those of raw net as 10 segments.'
    ])
  })

  it('claims no effect that it did not see', () => {
    const runs = link.runs.map(run => run.case === 'ours-nagle' ? { ...link.runs[1], case: run.case } : run)

    const sentences = explain({ ...link, runs }, report)

    expect(sentences[0]).to.equal('Nagle\'s algorithm held nothing back here: each ACK was there before the next write.')
    expect(sentences.join(' ')).to.not.include('@libp2p/tcp sets TCP_NODELAY')
  })

  it('doubts runs that differ, retransmissions and single samples', () => {
    const [first, ...rest] = link.runs
    const odd = { ...first, segments: [{ ...first.segments[0], bytes: 10 }, { ...first.segments[0], retransmission: true }] }
    const doubted = doubts({ ...link, runs: [odd, ...rest] }, CASES)

    expect(doubted).to.include('net-nagle was cut into segments of 1 + 9 in 4 of 5 runs, the others differ.')
    expect(doubted).to.include('net-nagle had 1 retransmission, which the segments leave out.')
    expect(doubts(nagleLink(1), CASES)).to.include('net-nodelay (last byte) has 1 sample: its spread says little.')
  })

  it('draws the run in the middle', () => {
    expect(typicalRun(link, 'ours-nagle').run).to.equal(2)
  })

  it('writes a page with every case and message', () => {
    const page = nagleMarkdown(report)

    expect(page).to.include('| ours | false | 5 ms apart | 2 | 1 + 9 | 52 | 152 | 150-154 | 1.5 |')
    expect(page).to.include('| @libp2p/tcp | false | 5 ms apart | 10 | 10 × 1 |')
    expect(page).to.match(/^\| 10 \| 152 \|/m)
    expect(page).to.include('(nagle.svg)')
    expect(page).to.include('@libp2p/tcp 11.0.28')
  })

  it('tells the terminal the same', () => {
    expect(nagleText(report)).to.match(/raw net +false +5 ms apart +2 +1 \+ 9 +52 +152 +150-154 +1\.5/)
  })

  it('draws both ways for each link', async () => {
    const svg = await renderSvg(nagleChart({ ...report, links: [link, link] }))

    expect(svg.match(/>100 ms round trip, Nagle on</g)).to.have.lengthOf(2)
    expect(svg.match(/>100 ms round trip, Nagle off/g)).to.have.lengthOf(2)
    expect(svg.match(/>9 bytes</g)).to.have.lengthOf(2)
    expect(svg.match(/>10 × 1 byte</g)).to.have.lengthOf(2)
    expect(svg.match(/>10 × ACK</g)).to.have.lengthOf(2)
  })
})
