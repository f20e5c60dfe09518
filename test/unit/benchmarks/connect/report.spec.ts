import { expect } from 'aegir/chai'
import { connectChart } from '../../../../benchmarks/connect/chart.ts'
import { connectResults } from '../../../../benchmarks/connect/page.ts'
import { connectReport as reportOf } from '../../../../benchmarks/connect/run.ts'
import { summariseLink } from '../../../../benchmarks/connect/summary.ts'
import { renderSvg } from '../../../../benchmarks/report/svg.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import type { LinkRuns, Run } from '../../../../benchmarks/connect/report.ts'
import type { Contender, FirstByte } from '../../../lab/peers/contender.ts'

const contenders: Contender[] = [
  ['floor', 'plain TCP'],
  ['official', 'the official stack'],
  ['recipe', 'the recipe'],
  ['ours', 'ours']
].map(([name, title]) => ({ name, title, level: 'stream', suites: ['connect'], versions: () => ({ [name]: '1.0.0' }), open: async () => { throw new Error('not here') } }))

/**
 * A dial whose steps take these round trips of 100 ms
 */
function sample (connect: number, security: number, stream: number, firstByte: number, late = 0): FirstByte {
  return {
    connect: connect * 100,
    security: security * 100,
    muxer: 0,
    stream: stream * 100,
    firstByte: firstByte * 100 + late,
    total: (connect + security + stream + firstByte) * 100 + late,
    close: 1
  }
}

function runsOf (rival: string, ...steps: [number, number, number, number]): Run[] {
  return [
    { rival, run: 0, sample: sample(9, 9, 9, 9) },
    ...[1, 2, 3].map(run => ({ rival, run, sample: sample(...steps, run) }))
  ]
}

function link (overrides: Partial<LinkRuns> = {}): LinkRuns {
  return {
    kind: 'relay',
    title: 'a relay',
    shape: { delay: 50 },
    hiddenRoundTrips: 0,
    roundTrip: 100,
    passedOver: [{ kind: 'netem', reason: 'not in this kernel' }],
    runs: [
      ...runsOf('floor', 1, 0, 0, 1),
      ...runsOf('official', 1, 2, 1, 1),
      ...runsOf('recipe', 1, 2, 1, 1),
      ...runsOf('ours', 1, 1, 0, 1),
      { rival: 'ours', run: 4, failure: 'timed out' }
    ],
    ...overrides
  }
}

describe('benchmarks: report', () => {
  it('counts round trips and compares with the official transport', () => {
    const [floor, official, , ours] = summariseLink(link(), contenders)

    expect(floor.roundTrips).to.be.closeTo(2, 0.05)
    expect(official).to.include({ ratio: 1, noisy: false, failures: 0 })
    expect(ours.roundTrips).to.be.closeTo(3, 0.05)
    expect(ours.ratio).to.be.closeTo(0.6, 0.01)
    expect(ours).to.include({ noisy: false, failures: 1 })
    expect(ours.total).to.include({ count: 3, median: 302 })
  })

  it('says where a difference may be noise', () => {
    const recipe = summariseLink(link(), contenders).find(({ rival }) => rival === 'recipe')

    expect(recipe?.noisy).to.be.true()
  })

  it('counts the round trip that a proxy hides', () => {
    const [floor, official] = summariseLink(link({
      hiddenRoundTrips: 1,
      runs: [...runsOf('floor', 0, 0, 0, 1), ...runsOf('official', 0, 2, 1, 1)]
    }), contenders)

    expect(floor.roundTrips).to.be.closeTo(2, 0.05)
    expect(floor.ratio).to.be.closeTo(2 / 5, 0.01)
    expect(official.roundTrips).to.be.closeTo(5, 0.05)
  })

  it('counts no round trips over loopback and compares with nothing that was not measured', () => {
    const [floor] = summariseLink(link({ roundTrip: 0.1, runs: runsOf('floor', 1, 0, 0, 1) }), contenders)

    expect(floor.roundTrips).to.be.NaN()
    expect(floor.ratio).to.be.NaN()
  })

  it('shows no step of a stack that does not tell it', () => {
    const untold = link({
      runs: [...runsOf('official', 1, 2, 1, 1), { rival: 'go', run: 1, sample: { stream: 0, firstByte: 100, total: 500, close: 1 } }]
    })
    const report = reportOf([untold], { command: 'npm run benchmark', contenders: [contenders[1], { ...contenders[3], name: 'go', title: 'go' }], seed: 1 }, [])

    for (const page of [connectResults(report).page, connectResults(JSON.parse(JSON.stringify(report))).page]) {
      expect(page).to.match(/^\| go +\| go +\| +- \| +- \| +0\.0 \| +100 \| +500 \| .* 5\.0 /m)
      expect(page).to.match(/^\| +1 \| +100 \/ 200 \/ 501 \| - \/ - \/ 500 \|$/m)
      expect(page).to.include('A dash stands for what is not known: go cannot tell')
      expect(page).to.not.include('NaN')
    }

    expect(connectResults(reportOf([link()], { command: '', contenders, seed: 1 }, [])).page).to.not.include('A dash')
  })

  it('shows the runs, what failed, what was left out and why', () => {
    const page = connectResults(reportOf([link()], { command: 'npm run benchmark', contenders, seed: 7 }, [{ rival: 'v9', reason: 'no network' }])).page

    expect(page).to.include('Measured round trip: 100 ms. 50 ms each way. Not netem: not in this kernel.')
    expect(page).to.match(/^\| +1 \| 100 \/ 0\.0 \/ 201 \| 100 \/ 200 \/ 501 \| 100 \/ 200 \/ 501 \| 100 \/ 100 \/ 301 \|$/m)
    expect(page).to.match(/^\| +4( \| +failed){4} \|$/m)
    expect(page).to.include('- ours failed in run 4: timed out')
    expect(page).to.include('- Left out: v9, no network')
    expect(page).to.include('- the official stack: official 1.0.0')
    expect(page).to.include('Seed 7.')
    expect(page).to.not.include('NaN')
  })

  it('keeps every sample and what they depend on', () => {
    const report = reportOf([link()], { command: 'npm run benchmark', contenders, seed: 1 }, [])

    expect(report).to.include({ benchmark: 'connect', seed: 1, node: process.version })
    expect(report.rivals[1]).to.deep.equal({ name: 'official', title: 'the official stack', versions: { official: '1.0.0' } })
    expect(report.links[0].runs).to.have.lengthOf(17)
    expect(report.links[0].summary).to.have.lengthOf(4)
    expect(JSON.parse(JSON.stringify(report)).links[0].runs[0]).to.have.nested.property('sample.total')
  })
})

describe('benchmarks: connect chart', () => {
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
})
