import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { LatencyRecorder } from '../../../../benchmarks/throughput/latency.ts'

/** In ms */
const OPERATION = 50
const LONG_OPERATION = 250
const BETWEEN = 1_000

/** In µs; the clock of a timer is a little ahead of the histogram's */
const SHORTEST = OPERATION * 0.8 * 1_000
const SHORTEST_LONG = LONG_OPERATION * 0.8 * 1_000

/** In µs, of a machine that is busy with other things */
const LONGEST = BETWEEN * 0.9 * 1_000

async function stretch (recorder: LatencyRecorder, operations: number, duration = OPERATION): Promise<void> {
  recorder.start()

  for (let i = 0; i < operations; i++) {
    await wait(duration)
    recorder.lap()
  }
}

describe('benchmarks: latency', () => {
  it('adds up over several stretches, without the time between them', async () => {
    const recorder = new LatencyRecorder()

    await stretch(recorder, 1, LONG_OPERATION)
    await wait(BETWEEN)
    await stretch(recorder, 2)

    const { p50, max } = recorder.take()

    expect(max).to.be.within(SHORTEST_LONG, LONGEST)
    expect(p50).to.be.within(SHORTEST, max - 1)
  })

  it('is that of an operation where several make a sample', async () => {
    const recorder = new LatencyRecorder(4)

    recorder.start()
    await wait(4 * OPERATION)
    Array.from({ length: 4 }).forEach(() => { recorder.lap() })

    expect(recorder.take().max).to.be.within(SHORTEST, LONGEST / 4)
  })

  it('knows nothing of a sample that a stretch has begun and not ended', async () => {
    const recorder = new LatencyRecorder(2)

    recorder.start()
    recorder.lap()
    await stretch(recorder, 1)

    expect(recorder.take().max).to.equal(0)
  })

  it('is forgotten once it was asked for', async () => {
    const recorder = new LatencyRecorder()

    await stretch(recorder, 1)

    expect(recorder.take().max).to.be.within(SHORTEST, LONGEST)
    expect(recorder.take()).to.deep.equal({ p50: 0, p90: 0, p99: 0, max: 0 })
  })
})
