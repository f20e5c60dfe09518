import { expect } from 'aegir/chai'
import { connectChart } from '../../../../benchmarks/connect/chart.ts'
import { nagleChart } from '../../../../benchmarks/nagle/chart.ts'
import { ACCENT, DARK_PAGE, LIGHT_PAGE, LINE, MUTED, RIVALS, SERIES, TEXT, contrast } from '../../../../benchmarks/report/palette.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import { scaleChart } from '../../../../benchmarks/scale/chart.ts'
import { throughputChart } from '../../../../benchmarks/throughput/chart.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'

const PAGES = [LIGHT_PAGE, DARK_PAGE]
const COLOUR = /(?:fill|stroke)="(#[0-9a-f]{3,6}|[a-z]+)"/g

/**
 * Every text of a chart, as a reader finds it
 */
function texts (svg: string): string[] {
  return [...svg.matchAll(/<(?:text|tspan)[^>]*>([^<]*)(?=<)/g)].map(match => match[1])
}

const scale = scaleReport()
const charts = {
  connect: connectChart(connectReport),
  nagle: nagleChart(nagleReport),
  throughput: throughputChart(throughputReport(), 'connection'),
  scale: scaleChart(scale, 'connection')
}

describe('benchmarks: charts', () => {
  for (const colour of new Set([TEXT, LINE, ACCENT, MUTED, ...SERIES, ...Object.values(RIVALS)])) {
    it(`sees ${colour} on a light page and on a dark one`, () => {
      for (const page of PAGES) {
        expect(contrast(colour, page)).to.be.at.least(colour === TEXT ? 4 : 3)
      }
    })
  }

  it('measures contrast as WCAG does', () => {
    expect(contrast('#ffffff', '#000000')).to.be.closeTo(21, 0.001)
    expect(contrast('#000000', '#ffffff')).to.be.closeTo(21, 0.001)
    expect(contrast('#777777', '#777777')).to.equal(1)
  })

  for (const [name, chart] of Object.entries(charts)) {
    it(`draws ${name} in colours of the palette, all of it, and the same each time`, async () => {
      const svg = await renderSvg(chart)
      const colours = new Set([...svg.matchAll(COLOUR)].map(match => match[1]))

      expect([TEXT, LINE, ACCENT, MUTED, ...SERIES, ...Object.values(RIVALS), 'none', 'transparent']).to.include.members([...colours])
      expect(svg).to.match(/^<svg [^>]*>/).and.to.not.match(/NaN|Infinity|undefined/)
      expect(await renderSvg(chart)).to.equal(svg)
    })
  }

  it('names the phases once for all panels', async () => {
    const [link] = connectReport.links
    const names = texts(await renderSvg(connectChart({ ...connectReport, links: [link, link] })))

    expect(names.filter(name => name === 'security')).to.have.lengthOf(1)
  })

  it('ends a stacked bar at the number behind it', () => {
    const [link] = connectReport.links
    const slow = { rival: 'ours', run: 9, sample: { connect: 500, security: 1, muxer: 0, stream: 1, firstByte: 1, total: 503, close: 1 } }
    const [, ...panels] = (connectChart({ ...connectReport, links: [{ ...link, runs: [...link.runs, slow] }] }) as any).vconcat

    for (const { layer: [bars, , , labels] } of panels) {
      for (const { title, label } of labels.data.values) {
        const end = bars.data.values.filter((phase: any) => phase.title === title).reduce((sum: number, { part }: any) => sum + part, 0)

        expect(label).to.match(new RegExp(`^${end.toFixed(0)} ms`))
      }
    }
  })

  it('leaves out a median that has no place on a logarithmic axis, but not a band that goes below zero', async () => {
    const samples = scale.samples.map(series => series.metric === 'rss dialer' && series.row === '1000' ? { ...series, samples: [-9_000, 4_096, 4_096] } : series)
    const drawn = scaleChart({ ...scale, samples }, 'connection')
    const panel = (drawn as any).vconcat[1].concat.find(({ title }: any) => title.text === 'RSS')

    expect(texts(await renderSvg(drawn))).to.include('RSS')
    expect(texts(await renderSvg(charts.scale))).to.not.include('RSS')
    // the bottom of the panel
    expect(panel.data.values.map(({ p10 }: any) => p10 > 0)).to.deep.equal([true, true, true])
  })

  it('does not make much of a few per cent', async () => {
    const samples = scale.samples.map(series => series.metric === 'dial rate' ? { ...series, samples: [300, 305, 310] } : series)

    expect(texts(await renderSvg(scaleChart({ ...scale, samples }, 'connection')))).to.include.members(['200', '500'])
  })

  it('does not break on text that is markup', async () => {
    const svg = await renderSvg(connectChart({ ...connectReport, rivals: [{ name: 'ours', title: 'a < b & "c"', versions: {} }] }))

    expect(svg).to.include('a &lt; b &amp;')
  })
})
