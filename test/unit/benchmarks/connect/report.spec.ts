import { expect } from 'aegir/chai'
import { connectReport } from '../../../../benchmarks/connect/report.ts'
import { summariseLink } from '../../../../benchmarks/connect/summary.ts'
import { connectText } from '../../../../benchmarks/connect/text.ts'
import { verdict } from '../../../../benchmarks/connect/verdict.ts'
import { ms, times } from '../../../../benchmarks/report/numbers.ts'
import { textTable } from '../../../../benchmarks/report/table.ts'
import type { Run } from '../../../../benchmarks/connect/interleave.ts'
import type { LinkRuns } from '../../../../benchmarks/connect/run.ts'
import type { Rival, Sample } from '../../../../benchmarks/rivals/rival.ts'

const rivals: Rival[] = [
  ['floor', 'plain TCP'],
  ['official', 'the official stack'],
  ['recipe', 'the recipe'],
  ['ours', 'ours']
].map(([name, title]) => ({ name, title, versions: () => ({ [name]: '1.0.0' }), open: async () => { throw new Error('not here') } }))

/**
 * A dial whose steps take these round trips of 100 ms
 */
function sample (connect: number, security: number, stream: number, firstByte: number, late = 0): Sample {
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
  it('aligns a table', () => {
    expect(textTable({ columns: [{ title: 'stack', align: 'left' }, { title: 'ms' }], rows: [['a', '100'], ['longer', '1']] })).to.equal([
      'stack    ms',
      '------  ---',
      'a       100',
      'longer    1'
    ].join('\n'))
  })

  it('shows tenths where they matter', () => {
    expect([0.04, 9.94, 9.96, 428.4, NaN].map(ms)).to.deep.equal(['0.0', '9.9', '10', '428', '-'])
    expect([0.618, NaN].map(times)).to.deep.equal(['0.62x', '-'])
  })

  it('counts round trips and compares with the official transport', () => {
    const [floor, official, , ours] = summariseLink(link(), rivals)

    expect(floor.roundTrips).to.be.closeTo(2, 0.05)
    expect(official).to.include({ ratio: 1, noisy: false, failures: 0 })
    expect(ours.roundTrips).to.be.closeTo(3, 0.05)
    expect(ours.ratio).to.be.closeTo(0.6, 0.01)
    expect(ours).to.include({ noisy: false, failures: 1 })
    expect(ours.total).to.include({ count: 3, median: 302 })
  })

  it('says where a difference may be noise', () => {
    const recipe = summariseLink(link(), rivals).find(({ rival }) => rival === 'recipe')

    expect(recipe?.noisy).to.be.true()
  })

  it('counts the round trip that a proxy hides', () => {
    const [floor, official] = summariseLink(link({
      hiddenRoundTrips: 1,
      runs: [...runsOf('floor', 0, 0, 0, 1), ...runsOf('official', 0, 2, 1, 1)]
    }), rivals)

    expect(floor.roundTrips).to.be.closeTo(2, 0.05)
    expect(floor.ratio).to.be.closeTo(2 / 5, 0.01)
    expect(official.roundTrips).to.be.closeTo(5, 0.05)
  })

  it('counts no round trips over loopback and compares with nothing that was not measured', () => {
    const [floor] = summariseLink(link({ roundTrip: 0.1, runs: runsOf('floor', 1, 0, 0, 1) }), rivals)

    expect(floor.roundTrips).to.be.NaN()
    expect(floor.ratio).to.be.NaN()
  })

  it('says which step costs what', () => {
    expect(verdict(link(), summariseLink(link(), rivals))).to.equal(
      'With a round trip of 100 ms, the first byte over the official stack costs 5.0 round trips ' +
      '(1.0 to connect, 2.0 for the handshake, 1.0 to open the stream, 1.0 for the byte); ' +
      'the recipe saves none of them; ' +
      'ours saves 2.0 (1.0 to connect, 1.0 for the handshake, 0.0 to open the stream, 1.0 for the byte).'
    )
  })

  it('shows no step of a stack that does not tell it', () => {
    const untold = link({
      runs: [...runsOf('official', 1, 2, 1, 1), { rival: 'go', run: 1, sample: { stream: 0, firstByte: 100, total: 500, close: 1 } }]
    })
    const report = connectReport([untold], { command: 'npm run benchmark', rivals: [rivals[1], { ...rivals[3], name: 'go', title: 'go' }], seed: 1, runs: 1, warmUps: 0 }, [])

    for (const text of [connectText(report), connectText(JSON.parse(JSON.stringify(report)))]) {
      expect(text).to.match(/^go +go +- +- +0\.0 +100 +500 .* 5\.0 /m)
      expect(text).to.match(/1 +100 \/ 200 \/ 501 +- \/ - \/ 500$/m)
      expect(text).to.include('A dash stands for what is not known: go cannot tell')
      expect(text).to.not.include('NaN')
    }

    expect(verdict(untold, summariseLink(untold, [{ name: 'go', title: 'go' }]))).to.equal(
      'With a round trip of 100 ms, the first byte over go costs 5.0 round trips (0.0 to open the stream, 1.0 for the byte).'
    )
    expect(connectText(connectReport([link()], { command: '', rivals, seed: 1, runs: 4, warmUps: 1 }, []))).to.not.include('A dash')
  })

  it('has no verdict over a link that is too short', () => {
    const short = link({ roundTrip: 0.1 })

    expect(verdict(short, summariseLink(short, rivals))).to.be.undefined()
  })

  it('shows the runs, what failed, what was left out and why', () => {
    const text = connectText(connectReport([link()], { command: 'npm run benchmark', rivals, seed: 1, runs: 4, warmUps: 1 }, [{ rival: 'v9', reason: 'no network' }]))

    expect(text).to.include('a relay, 50 ms each way; measured round trip 100.0 ms')
    expect(text).to.include('not netem: not in this kernel')
    expect(text).to.match(/1 {2}100 \/ 0\.0 \/ 201 {2}100 \/ 200 \/ 501 {2}100 \/ 200 \/ 501 {2}100 \/ 100 \/ 301/)
    expect(text).to.match(/4( +failed){4}/)
    expect(text).to.include('ours failed in run 4: timed out')
    expect(text).to.include('Left out: v9, no network')
    expect(text).to.not.include('NaN')
  })

  it('keeps every sample and what they depend on', () => {
    const report = connectReport([link()], { command: 'npm run benchmark', rivals, seed: 1, runs: 4, warmUps: 1 }, [])

    expect(report).to.include({ benchmark: 'connect', seed: 1, node: process.version })
    expect(report.rivals[1]).to.deep.equal({ name: 'official', title: 'the official stack', versions: { official: '1.0.0' } })
    expect(report.links[0].runs).to.have.lengthOf(17)
    expect(report.links[0].summary).to.have.lengthOf(4)
    expect(JSON.parse(JSON.stringify(report)).links[0].runs[0]).to.have.nested.property('sample.total')
  })
})
