import { expect } from 'aegir/chai'
import { connectChart } from '../../../../benchmarks/connect/chart.ts'
import { latencyChart, memoryChart } from '../../../../benchmarks/load/chart.ts'
import { nagleChart } from '../../../../benchmarks/nagle/chart.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import { scaleChart } from '../../../../benchmarks/scale/chart.ts'
import { throughputChart } from '../../../../benchmarks/throughput/chart.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import { loadReport } from '../fixtures/load-report.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'

const charts = {
  connect: connectChart(connectReport),
  nagle: nagleChart(nagleReport),
  throughput: throughputChart(throughputReport(), 'connection'),
  scale: scaleChart(scaleReport(), 'connection'),
  load: latencyChart(loadReport()),
  memory: memoryChart(loadReport())
}

describe('benchmarks: charts', function () {
  // to draw one takes a second on a busy machine
  this.timeout(20_000)

  for (const [name, chart] of Object.entries(charts)) {
    it(`the chart of ${name} is an image without holes, and the same each time`, async () => {
      const svg = await renderSvg(chart)

      expect(svg).to.match(/^<svg [^>]*>/).and.to.not.match(/NaN|Infinity|undefined/)
      expect(await renderSvg(chart)).to.equal(svg)
    })
  }

  it('a chart does not break on text that is markup', async () => {
    const svg = await renderSvg(connectChart({ ...connectReport, rivals: [{ name: 'ours', title: 'a < b & "c"', versions: {} }] }))

    expect(svg).to.include('a &lt; b &amp;')
  })
})
