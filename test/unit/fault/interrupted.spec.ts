import path from 'node:path'
import { expect } from 'aegir/chai'
import { skipUnless } from '../../fixtures/skip.ts'
import { packageRoot } from '../../lab/script-path.ts'
import { interrupt } from '../benchmarks/fixtures/interrupt.ts'

describe('faults: interrupted', function () {
  this.timeout(60_000)

  skipUnless(process.platform === 'linux')

  for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGKILL', null]] as const) {
    for (const [suite, runs, ran] of [['abort', /test\/fault\/child/, 2], ['kill', /test\/fault\/kill\/raw-remote/, 3]] as const) {
      it(`no process or file of ${suite} is left after ${signal}, and the exit code tells`, async () => {
        const left = await interrupt({
          // its children are TypeScript too
          script: path.join(packageRoot(), 'test/fault/run.ts'),
          args: ['--suite', suite],
          signal,
          at: { runs }
        })

        expect(left.ran).to.be.at.least(ran)
        expect(left).to.deep.include({ status, processes: [], files: [] })
      })
    }
  }
})
