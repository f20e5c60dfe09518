import { expect } from 'aegir/chai'
import { startPair } from '../../../../benchmarks/throughput/pair.ts'
import { rowNamed } from '../../../../benchmarks/throughput/rows/registry.ts'
import { percentilesOf, timeSlice } from '../../../../benchmarks/throughput/timed-slice.ts'
import { isThorough } from '../../../fixtures/thorough.ts'
import { contenders } from '../../../lab/peers/registry.ts'
import { startWorker } from '../../../lab/process/worker.ts'
import { scriptPath } from '../../../lab/script-path.ts'
import { commandLine } from '../../benchmarks/fixtures/processes.ts'
import type { Measurements } from '../../../lab/measure/measurements.ts'
import type { Worker } from '../../../lab/process/worker.ts'
import type { EchoTasks } from '../../benchmarks/fixtures/echo-worker.ts'

const startEcho = async (): Promise<Worker<EchoTasks>> => startWorker<EchoTasks>({ script: scriptPath(import.meta.url, '../../benchmarks/fixtures/echo-worker'), name: 'echo' })

function isRunning (pid: number): boolean {
  // a zombie has no command line
  return commandLine(pid) !== ''
}

describe('benchmarks: workers', function () {
  this.timeout(60_000)

  it('do what they are asked', async () => {
    const worker = await startEcho()

    expect(await Promise.all([worker.ask('echo', 1), worker.ask('echo', 'two')])).to.deep.equal([1, 'two'])
    await worker.end()
    expect(isRunning(worker.pid)).to.be.false()
  })

  it('say why they fail', async () => {
    const worker = await startEcho()

    await expect(worker.ask('fail')).to.eventually.be.rejectedWith('It was meant to fail')
    await worker.end()
  })

  it('that end are missed', async () => {
    const worker = await startEcho()

    await expect(worker.ask('leave')).to.eventually.be.rejectedWith('ended with code 3')
    await expect(worker.ask('echo', 1)).to.eventually.be.rejectedWith('ended with code 3')
    await worker.end()
  })

  it('that hang are killed', async () => {
    const worker = await startEcho()

    void worker.ask('hang').catch(() => {})
    await worker.end()
    expect(isRunning(worker.pid)).to.be.false()
  })

  for (const contender of contenders.filter(({ suites }) => suites.includes('throughput'))) {
    it(`measure ${contender.name} at the ${contender.level} level`, async () => {
      // a round trip under load takes seconds on a stream
      const names = contender.onlyIfNamed === true || !(isThorough || contender.name === 'ours') ? ['new-dial'] : ['chunking', 'new-dial', contender.level === 'connection' ? 'loaded' : 'side-by-side']

      for (const row of names.map(rowNamed)) {
        const pair = await startPair(contender, row)

        try {
          const valueOf = (measurements: Measurements, name: string): number | undefined => measurements.find(({ metric }) => metric === name)?.value
          const time = valueOf(await timeSlice(pair, row, 5, 2), 'time')
          const all = await percentilesOf(pair)
          const rest = await percentilesOf(pair)

          expect(time, row.name).to.be.above(0)
          expect(valueOf(all, 'p99'), row.name).to.be.above(0)
          expect(valueOf(all, 'max'), row.name).to.be.at.least(valueOf(all, 'p99') ?? Infinity)
          expect(valueOf(rest, 'max'), row.name).to.equal(0)
        } finally {
          await pair.end()
        }
      }
    })
  }
})
