import { expect } from 'aegir/chai'
import { barChart } from '../../../../benchmarks/report/bar-chart.ts'
import { growthChart } from '../../../../benchmarks/report/growth-chart.ts'
import { ACCENT, DARK_PAGE, LIGHT_PAGE, LINE, MUTED, RIVALS, SERIES, TEXT, contrast } from '../../../../benchmarks/report/palette.ts'
import { ratioChart } from '../../../../benchmarks/report/ratio-chart.ts'
import { sequenceChart } from '../../../../benchmarks/report/sequence-chart.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import type { Spread } from '../../../../benchmarks/report/bar-chart.ts'

const PAGES = [LIGHT_PAGE, DARK_PAGE]
const COLOUR = /(?:fill|stroke)="(#[0-9a-f]{3,6}|[a-z]+)"/g

function spread (median: number): Spread {
  return { median, p10: median * 0.9, p90: median * 1.1 }
}

/**
 * Every text of a chart, as a reader finds it
 */
function texts (svg: string): string[] {
  return [...svg.matchAll(/<(?:text|tspan)[^>]*>([^<]*)(?=<)/g)].map(match => match[1])
}

const charts = {
  'plain bars': barChart({
    title: 'Closing',
    axis: 'time to close (ms)',
    panels: [{ title: '', rows: [{ name: 'official', value: spread(80), label: '80 ms' }, { name: 'ours', value: spread(90), label: '90 ms', colour: RIVALS.ours }] }]
  }),
  'stacked bars': barChart({
    title: 'First byte',
    subtitle: ['medians'],
    axis: 'time to the first byte (ms)',
    phases: ['connect', 'security'],
    panels: ['loopback', '80 ms'].map(title => ({
      title,
      rows: [
        { name: 'official', value: spread(428), label: '428 ms', phases: { connect: 83, security: 365 } },
        { name: 'ours', value: spread(257), label: '257 ms', phases: { connect: 83, security: 174 } }
      ]
    }))
  }),
  ratios: ratioChart({
    title: 'Throughput',
    axis: 'times raw net',
    more: 'slower',
    series: [{ name: 'official', colour: RIVALS.official }, { name: 'ours', colour: RIVALS.ours }],
    groups: ['small', 'large'].map(name => ({ name, bars: [{ series: 'official', ratio: spread(0.25) }, { series: 'ours', ratio: spread(1.5) }] }))
  }),
  growth: growthChart({
    title: 'Scale',
    axis: 'connections',
    panels: [{
      title: 'memory',
      axis: 'bytes per connection',
      series: [{ name: 'ours', colour: RIVALS.ours, points: [{ x: 10, y: spread(5) }, { x: 100, y: 6 }, { x: 1_000, y: 0 }, { x: 10_000, y: { median: 7, p10: -2, p90: 8 } }] }]
    }]
  }),
  sequence: sequenceChart({
    title: 'Writes',
    rows: [{
      until: 100,
      panels: [{
        title: 'Nagle off',
        arrows: [
          { from: 'sender', kind: 'data', sent: 0, received: 40, label: '1 byte' },
          { from: 'receiver', kind: 'ack', sent: 40, received: 80, label: 'ACK' }
        ],
        dots: [{ at: 'sender', time: 0 }],
        notes: [{ at: 'receiver', time: 40, text: 'byte 1\n40 ms' }]
      }]
    }]
  })
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
    it(`draws ${name} in colours of the palette and on nothing`, async () => {
      const svg = await renderSvg(chart)
      const colours = new Set([...svg.matchAll(COLOUR)].map(match => match[1]))

      expect(svg).to.match(/^<svg [^>]*>/)
      expect([TEXT, LINE, ACCENT, MUTED, ...SERIES, ...Object.values(RIVALS), 'none', 'transparent']).to.include.members([...colours])
    })

    it(`places everything of ${name}`, async () => {
      const svg = await renderSvg(chart)

      expect(svg).to.not.match(/NaN|Infinity|undefined/)
    })

    it(`draws ${name} the same each time`, async () => {
      expect(await renderSvg(chart)).to.equal(await renderSvg(chart))
    })
  }

  it('names every bar, its value and the unit, also where we lose', async () => {
    expect(texts(await renderSvg(charts['plain bars']))).to.include.members(['Closing', 'official', 'ours', '80 ms', '90 ms', 'time to close (ms)'])
  })

  it('names the phases once for all panels', async () => {
    const names = texts(await renderSvg(charts['stacked bars']))

    expect(names.filter(name => name === 'security')).to.have.lengthOf(1)
    expect(names).to.include.members(['connect', 'loopback', '80 ms', 'medians'])
  })

  it('ends a stacked bar at the number behind it', () => {
    const [, ...panels] = (charts['stacked bars'] as any).vconcat

    for (const { layer: [bars, , , labels] } of panels) {
      for (const { name, label } of labels.data.values) {
        const end = bars.data.values.filter((phase: any) => phase.name === name).reduce((sum: number, { median }: any) => sum + median, 0)

        expect(`${end.toFixed(0)} ms`).to.equal(label)
      }
    }
  })

  it('writes ratios behind their bars', async () => {
    expect(texts(await renderSvg(charts.ratios))).to.include.members(['official', 'ours', 'small', 'large', '0.25×', '1.50× slower', '1×', 'times raw net'])
  })

  it('leaves out what has no place on a logarithmic axis', async () => {
    const names = texts(await renderSvg(charts.growth))

    expect(names).to.include.members(['connections', 'bytes per connection', '10', '100'])
    expect(names).to.not.include('1,000')
    expect(names, 'a band that goes below zero').to.include('10,000')
  })

  it('does not make much of a few per cent', async () => {
    const names = texts(await renderSvg(growthChart({
      title: 'Scale',
      axis: 'connections',
      panels: [{ title: 'memory', axis: 'bytes', series: [{ name: 'ours', colour: RIVALS.ours, points: [{ x: 10, y: 300 }, { x: 1_000, y: 310 }] }] }]
    })))

    expect(names).to.include.members(['200', '500'])
  })

  it('labels segments, sides and moments', async () => {
    expect(texts(await renderSvg(charts.sequence))).to.include.members(['sender', 'receiver', '1 byte', 'ACK', 'byte 1', '40 ms', 'time since the first write (ms)'])
  })

  it('does not break on text that is markup', async () => {
    const svg = await renderSvg(barChart({ title: 'a < b & "c"', axis: 'ms', panels: [{ title: '', rows: [{ name: '<x>', value: spread(1), label: '' }] }] }))

    expect(svg).to.include('a &lt; b &amp;')
    expect(svg).to.not.include('<x>')
  })
})
