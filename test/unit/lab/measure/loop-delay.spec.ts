import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { LoopWatch } from '../../../lab/measure/loop-delay.ts'

/** In ms, far above what a timer is late by on its own, and below the time between stretches */
const BUSY = 200
const BETWEEN = 2_000

/** Time for the timer to run a few times before and after, in ms: less often than a hundred times, so that p99 is the longest */
const SOME_TURNS = 20

async function stretch (watch: LoopWatch, busy: number): Promise<void> {
  watch.start()
  await wait(SOME_TURNS)
  const until = performance.now() + busy

  while (performance.now() < until) {
    // the loop cannot turn
  }

  await wait(SOME_TURNS)
  watch.stop()
}

describe('benchmarks: event loop delay', () => {
  it('is what a long turn keeps others waiting for', async () => {
    const watch = new LoopWatch()

    await stretch(watch, BUSY)
    const { p50, p99 } = watch.take()

    expect(p99).to.be.within(BUSY * 0.9, BETWEEN)
    expect(p50).to.be.at.most(p99)
  })

  it('adds up over several stretches, without the time between them', async () => {
    const watch = new LoopWatch()

    await stretch(watch, BUSY)
    await wait(BETWEEN)
    await stretch(watch, 0)

    expect(watch.take().p99).to.be.within(BUSY * 0.9, BETWEEN * 0.9)
  })

  it('is forgotten once it was asked for', async () => {
    const watch = new LoopWatch()

    await stretch(watch, BUSY)

    expect(watch.take().p99).to.be.above(0)
    expect(watch.take()).to.deep.equal({ p50: 0, p99: 0 })
  })
})
