import { expect } from 'aegir/chai'
import { connectChart } from '../../../../benchmarks/connect/chart.ts'
import { connectMarkdown } from '../../../../benchmarks/connect/markdown.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import { connectReport } from '../fixtures/connect-report.ts'

describe('benchmarks: connect page', () => {
  it('draws each stack with its steps, and none that was not measured', async () => {
    const svg = await renderSvg(connectChart(connectReport))

    expect(svg).to.include('>the official stack<')
    expect(svg).to.include('>242 ms, 3.0 round trips<')
    expect(svg).to.include('>80 ms round trip (relay)<')
    expect(svg).to.include('>security<')
    expect(svg).to.not.include('the gone stack')
    expect(svg).to.not.include('NaN')
  })

  it('draws as one what a stack does not tell apart', async () => {
    const [link] = connectReport.links
    const go = { rival: 'go', run: 1, sample: { stream: 0, firstByte: 80, total: 400, close: 1 } }
    const svg = await renderSvg(connectChart({
      rivals: [...connectReport.rivals, { name: 'go', title: 'the go stack', versions: {} }],
      links: [{ ...link, runs: [...link.runs, go] }]
    }))

    expect(svg).to.include('>all three as one<')
    expect(svg).to.match(/aria-label="[^"]*: 320[;"]/)
    expect(await renderSvg(connectChart(connectReport))).to.not.include('all three')
  })

  it('lists totals, versions and what was left out, and warns of noise', () => {
    const page = connectMarkdown(connectReport)

    expect(page).to.match(/^\| ours \| the ours stack \| 80 \| 80 \| 2\.0 \| 80 \| 242 \|/m)
    expect(page).to.include('- the ours stack: libp2p 3.3.11')
    expect(page).to.include('- v9 was left out: no network')
    expect(page).to.include('> gone failed in run 1: it broke')
    expect(page).to.include('> the ours stack and the official stack differ by 1.2 %')
    expect(page).to.include('Seed 7.')
  })
})
