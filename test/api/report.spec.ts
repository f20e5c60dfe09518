import { readFile } from 'node:fs/promises'
import { expect } from 'aegir/chai'
import { REPORT, apiReport } from './report.ts'

describe('the public surface', () => {
  it('is what test/api/REPORT.md says. If you mean to change it, run `npm run api` and commit what that writes', async function () {
    this.timeout(60_000)

    expect(apiReport()).to.equal(await readFile(REPORT, 'utf8'))
  })
})
