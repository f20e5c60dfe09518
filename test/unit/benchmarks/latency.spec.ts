import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { LatencyRecorder } from '../../../benchmarks/throughput/latency.ts'

/** In ms; the clock of a timer may be a millisecond ahead */
const OPERATION = 50
const BETWEEN = 500

/** A histogram rounds to three digits, in µs */
const SHORTEST = (OPERATION - 1) * 1_000
const SECOND = 1_000_000

async function stretch (recorder: LatencyRecorder, operations: number): Promise<void> {
  recorder.start()

  for (let i = 0; i < operations; i++) {
    await wait(OPERATION)
    recorder.lap()
  }
}

describe('benchmarks: latency', () => {
  it('adds up over several stretches, without the time between them', async () => {
    const recorder = new LatencyRecorder()

    await stretch(recorder, 1)
    await wait(BETWEEN)
    await stretch(recorder, 2)

    const { p50, max } = recorder.take()

    expect(p50).to.be.within(SHORTEST, BETWEEN * 1_000)
    expect(max).to.be.within(p50, BETWEEN * 1_000)
  })

  it('is that of an operation where several make a sample', async () => {
    const recorder = new LatencyRecorder(4)

    recorder.start()
    await wait(4 * OPERATION)
    Array.from({ length: 4 }).forEach(() => { recorder.lap() })

    expect(recorder.take().max).to.be.within(SHORTEST, 3 * SHORTEST)
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

    expect(recorder.take().max).to.be.within(SHORTEST, SECOND)
    expect(recorder.take()).to.deep.equal({ p50: 0, p90: 0, p99: 0, max: 0 })
  })
})
