import { expect } from 'aegir/chai'
import { SeriesList, samplesOf } from '../../../../benchmarks/series.ts'
import { timeGo, timesAsMuch } from '../../../../benchmarks/throughput/calibrate.ts'
import { FieldMeasurement } from '../../../../benchmarks/throughput/field-measurement.ts'
import { rowNamed } from '../../../../benchmarks/throughput/rows/registry.ts'
import { timeSlice } from '../../../../benchmarks/throughput/timed-slice.ts'
import { selectContenders } from '../../../lab/peers/registry.ts'
import { withWorkers } from '../../../lab/process/worker.ts'
import type { Pair } from '../../../../benchmarks/throughput/pair.ts'
import type { ThroughputTasks } from '../../../../benchmarks/throughput/worker.ts'
import type { Worker } from '../../../lab/process/worker.ts'

const LEVEL = 'connection'
const ROUNDS = 2

/** In µs of CPU time */
const COST = { user: 30, system: 20 }

/**
 * Two ends that have taken the time that they are told, one after another
 */
function pairThatTook (...milliseconds: number[]): Pair & { runs: unknown[][] } {
  const runs: unknown[][] = []
  const end = {
    pid: 0,
    async ask (task: string, ...parameters: unknown[]) {
      if (task !== 'run') {
        return task === 'costEnd' ? COST : undefined
      }

      runs.push(parameters)

      return milliseconds.length > 1 ? milliseconds.shift() : milliseconds[0]
    },
    async end () {}
  } as unknown as Worker<ThroughputTasks>

  return { dialer: end, listener: end, port: 0, runs, async end () {} }
}

describe('benchmarks: the throughput of a row', function () {
  this.timeout(60_000)

  it('is measured of all rivals, round by round', async () => {
    const row = rowNamed('receive-only')
    const rivals = selectContenders('throughput', { levels: [LEVEL], rivals: ['net', 'ours'] })
    const list = new SeriesList()
    let steps = 0
    const measurement = new FieldMeasurement({ row, level: LEVEL, rivals }, {
      rounds: ROUNDS,
      mostRounds: ROUNDS,
      slices: 4,
      target: 100,
      warmUp: 50,
      freshProcesses: true,
      nodeOptions: [],
      counts: false,
      writeCalls: false,
      random: Math.random,
      onStep: () => { steps++ },
      onMeasured ({ name }, measurements) {
        list.addAll({ row: row.name, level: LEVEL, rival: name }, measurements)
      }
    })

    await withWorkers(async () => {
      const { times } = await measurement.calibrate()

      for (let round = 1; round <= ROUNDS; round++) {
        await measurement.round(round)
      }

      expect(times).to.have.all.keys('net', 'ours')
    })

    for (const { name } of rivals) {
      for (const metric of ['time', 'cpu', 'p50', 'p99', 'loop delay p99']) {
        const samples = samplesOf(list.series, { row: row.name, level: LEVEL, rival: name, metric })

        expect(samples, `${metric} of ${name}`).to.have.length(ROUNDS)
        samples.forEach(sample => { expect(sample, `${metric} of ${name}`).to.be.above(0) })
      }
    }

    expect(steps).to.equal(measurement.steps)
  })

  it('is that of one operation', async () => {
    const pair = pairThatTook(100)
    const measurements = await timeSlice(pair, rowNamed('loaded'), 5, 2)
    const valueOf = (name: string): number | undefined => measurements.find(({ metric }) => metric === name)?.value

    expect(pair.runs).to.deep.equal([[5, 2]])
    expect(valueOf('time')).to.equal(10_000)
    expect(valueOf('cpu system')).to.equal(4)
    expect(valueOf('cpu')).to.equal(10)
  })

  it('has more work for who is much faster, and the same for all others', () => {
    expect([100, 99, 60, 51, 49, 25, 15, 12, 7].map(go => timesAsMuch(go, 100))).to.deep.equal([1, 1, 1, 1, 4, 4, 4, 16, 16])
  })

  it('does not count on what was slow at first, or once', async () => {
    const pair = pairThatTook(300, 200, 20, 500, 25)

    expect(await timeGo(pair, 50, 450)).to.equal(25)
    expect(pair.runs).to.deep.equal(Array.from({ length: 5 }, () => [50]))
  })
})
