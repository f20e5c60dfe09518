import { spawnSync } from 'node:child_process'
import { expect } from 'aegir/chai'
import { scriptPath } from '../../../lab/script-path.ts'

function run (...args: string[]): { status: number | null, stderr: string } {
  return spawnSync(process.execPath, [scriptPath(import.meta.url, 'fixtures/three-cells'), ...args], { encoding: 'utf8', env: { ...process.env, NODE_NO_WARNINGS: '1' } })
}

describe('suites: a cell that fails', function () {
  this.timeout(20_000)

  it('is told of with the command that runs it alone, and the others run too', () => {
    const { status, stderr } = run('--no-delayed', '--sample', '0.5')

    expect(status).to.equal(1)
    expect(stderr).to.match(/2\/3 the second: done, .*\n {2}it is late\n {2}again: npm run test:three -- --only 'the second' --no-delayed --seed 5\n3\/3 three: done/)
    expect(stderr).to.match(/one was late\n$/)
  })

  it('ends the suite with its error where it throws', () => {
    const { status, stderr } = run('--throws')

    expect(status).to.equal(1)
    expect(stderr).to.match(/FAILED the second\n {2}again: npm run test:three -- --only 'the second' --throws --seed 5\n/)
    expect(stderr).to.include('Error: It is broken').and.not.include('three: done')
  })
})
