import path from 'node:path'
import { expect } from 'aegir/chai'
import { packageRoot } from '../../../benchmarks/script-path.ts'
import { interrupt } from '../benchmarks/fixtures/interrupt.ts'

describe('faults: interrupted', function () {
  this.timeout(60_000)

  before(function () {
    if (process.platform !== 'linux') {
      this.skip()
    }
  })

  for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGKILL', null]] as const) {
    it(`no process or file is left after ${signal}, and the exit code tells`, async () => {
      const left = await interrupt({
        // its children are TypeScript too
        script: path.join(packageRoot(), 'test/fault/run.ts'),
        args: ['--suite', 'abort'],
        signal,
        at: { runs: /test\/fault\/child/ }
      })

      expect(left.ran).to.be.at.least(2)
      expect(left).to.deep.include({ status, processes: [], files: [] })
    })
  }
})
