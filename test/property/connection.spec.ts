import { seed } from './fixtures/check.ts'
import { checkConcurrently } from './fixtures/concurrently.ts'
import { bothOurs, oursAndPlain, runAgainstOurs, runAgainstPlain } from './fixtures/sequences.ts'

describe(`properties of a connection (seed ${seed})`, () => {
  it('keeps to the model against a plain socket, whatever both do', async function () {
    await checkConcurrently(this, oursAndPlain, async (sequence, defer) => runAgainstPlain(defer, sequence))
  })

  it('keeps to the model against another, whatever both do', async function () {
    await checkConcurrently(this, bothOurs, async (sequence, defer) => runAgainstOurs(defer, sequence))
  })
})
