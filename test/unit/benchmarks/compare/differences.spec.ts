import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { differences, disagreements } from '../../../../benchmarks/compare/differences.ts'
import { quotedRatios } from '../../../../benchmarks/readme/quoted.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../../../fixtures/cleanup.ts'
import { scriptPath } from '../../../lab/script-path.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'
import type { QuotedRatio } from '../../../../benchmarks/readme/quoted.ts'
import type { Reports } from '../../../../benchmarks/readme/reports.ts'

const reports: Reports = { connect: connectReport, nagle: nagleReport, throughput: throughputReport(), scale: scaleReport() }

function quoted (name: string, ratio: number): QuotedRatio {
  return { suite: 'connect', name, ratio, noisy: false }
}

describe('benchmarks: two runs', () => {
  it('are compared by every ratio of the suites, and by nothing else', () => {
    const ratios = quotedRatios(reports)
    const count = (suite: QuotedRatio['suite']): number => ratios.filter(ratio => ratio.suite === suite).length

    expect([count('connect'), count('nagle'), count('throughput')]).to.deep.equal([3, 1, 7])
    expect(ratios.map(({ name }) => name)).to.include('the ours stack: to official').and.to.include('small message: 100 B round trip, stream level: ours / official')
  })

  it('agree where every ratio is near enough, upwards and downwards', () => {
    const all = differences([quoted('a', 1), quoted('b', 1), quoted('c', 2), quoted('d', 2)], [quoted('a', 1.09), quoted('b', 0.91), quoted('c', 2.3), quoted('d', 1.7)])

    expect(all.map(({ percent }) => Math.round(percent))).to.deep.equal([9, -9, 15, -15])
    expect(disagreements(all, 10).map(({ name }) => name)).to.deep.equal(['c', 'd'])
    expect(disagreements(all, 16)).to.be.empty()
  })

  it('disagree about what only one of them measured', () => {
    const all = differences([quoted('a', 1), quoted('b', 1)], [quoted('a', 1), quoted('c', 1)])

    expect(disagreements(all, 10).map(({ name }) => name)).to.deep.equal(['b', 'c'])
  })

  describe('on the command line', () => {
    const defer = cleanUpAfterEach()

    async function compare (other: Reports, ...options: string[]): Promise<{ exitCode?: number, stdout: string, stderr: string }> {
      const directories = await Promise.all([reports, other].map(async reports => {
        const results = await temporaryDirectory(defer)
        await Promise.all(Object.entries(reports).map(async ([name, report]) => writeFile(path.join(results, `${name}.json`), JSON.stringify(report))))

        return results
      }))

      return execa(process.execPath, [scriptPath(import.meta.url, '../../../../benchmarks/cli'), 'compare', ...directories, ...options], { reject: false })
    }

    it('exit with 0 where they agree', async () => {
      const { exitCode, stdout } = await compare(reports)

      expect(stdout).to.include('11 of 11 ratios agree within 10 %')
      expect(exitCode).to.equal(0)
    })

    it('exit with 1 where they do not, and show where', async () => {
      const slower = throughputReport()
      slower.samples.forEach(series => {
        if (series.level === 'stream' && series.rival === 'ours') {
          series.samples = series.samples.map(sample => sample * 1.2)
        }
      })
      const { exitCode, stdout } = await compare({ ...reports, throughput: slower })

      expect(stdout).to.match(/^\| throughput \| small message: 100 B round trip, stream level: ours \/ official +\| +1\.20 \| +1\.44 \| +\+20\.0 % \| > 10 % +\|$/m)
      expect(stdout).to.include('10 of 11 ratios agree')
      expect(exitCode).to.equal(1)
      expect((await compare({ ...reports, throughput: slower }, '--within', '21')).exitCode).to.equal(0)
    })

    it('exit with 1 where a suite was left out, or there is nothing to compare', async () => {
      const one = await compare({ connect: reports.connect })
      const none = await compare({})

      expect(one.stdout).to.match(/^\| nagle .* - \| +- \| only in one \|$/m)
      expect(one.stdout).to.include('8 are only in one of the two')
      expect(none.stderr).to.match(/There are no results in .*fast-tcp-test-/)
      expect([one.exitCode, none.exitCode]).to.deep.equal([1, 1])
    })
  })
})
