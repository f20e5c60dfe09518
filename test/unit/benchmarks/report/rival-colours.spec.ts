import { expect } from 'aegir/chai'
import { NAMES } from '../../../../benchmarks/contenders/names.ts'
import { namesIn } from '../../../../benchmarks/contenders/registry.ts'
import { RIVALS } from '../../../../benchmarks/report/palette.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import { scaleChart } from '../../../../benchmarks/scale/chart.ts'
import { throughputChart } from '../../../../benchmarks/throughput/chart.ts'
import { differences } from '../fixtures/seen-colours.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'

/**
 * As CIELAB measures it: 2 can just be told apart side by side
 */
const EASILY_TOLD_APART = 20

const CONTENDER_NAMES = namesIn('throughput')

const scale = scaleReport()
const throughput = throughputReport()

/**
 * The colour of each name of a legend, whose swatches are in its names' order
 */
async function legendOf (chart: Parameters<typeof renderSvg>[0]): Promise<Map<string, string>> {
  const svg = await renderSvg(chart)
  const legend = svg.slice(svg.indexOf('concat_0_group'), svg.indexOf('concat_1_group'))
  const colours = [...legend.matchAll(/<path aria-label[^>]* fill="(#[0-9a-f]{6})"/g)].map(match => match[1])
  const names = [...legend.matchAll(/<text [^>]*>([^<]+)</g)].map(match => match[1])

  expect(names).to.have.lengthOf(colours.length).and.not.be.empty()

  return new Map(names.map((name, index) => [name, colours[index]]))
}

describe('benchmarks: colours of rivals', () => {
  const charts = {
    'growth of connections': scaleChart(scale, 'connection'),
    'growth of connections, without the first rival': scaleChart({ ...scale, rivals: scale.rivals.slice(1) }, 'connection'),
    'growth of ours alone': scaleChart({ ...scale, rivals: scale.rivals.filter(({ name }) => name === 'ours') }, 'connection'),
    'ratios of connections': throughputChart(throughput, 'connection'),
    'ratios of connections, without the official transport': throughputChart({ ...throughput, rivals: throughput.rivals.filter(({ name }) => name !== 'official') }, 'connection'),
    'ratios of streams': throughputChart(throughput, 'stream')
  }

  for (const [name, chart] of Object.entries(charts)) {
    it(`are the same in a chart of ${name}`, async () => {
      const legend = await legendOf(chart)

      expect([...legend.keys()]).to.include(NAMES.ours)

      for (const rival of CONTENDER_NAMES) {
        expect(legend.get(NAMES[rival]) ?? RIVALS[rival], rival).to.equal(RIVALS[rival])
      }
    })
  }

  it('are there for every contender', () => {
    expect(Object.keys(RIVALS)).to.include.members(CONTENDER_NAMES)
  })

  it('are told apart with all cones and without one of the three', () => {
    const colours = Object.entries(RIVALS)

    for (const [one, colour] of colours) {
      for (const [other, otherColour] of colours.filter(([name]) => name !== one)) {
        for (const [eyes, difference] of Object.entries(differences(colour, otherColour))) {
          expect(difference, `${one} and ${other}, ${eyes}`).to.be.at.least(EASILY_TOLD_APART)
        }
      }
    }
  })
})
