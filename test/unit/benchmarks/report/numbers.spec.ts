import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { connectChart } from '../../../../benchmarks/connect/chart.ts'
import { compare } from '../../../../benchmarks/report/comparison.ts'
import { writeResults } from '../../../../benchmarks/report/results.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../../../fixtures/cleanup.ts'
import { environment, provenance } from '../../../lab/report/environment.ts'
import { duration, ms, times } from '../../../lab/report/numbers.ts'
import { markdownTable } from '../../../lab/report/table.ts'
import { connectReport } from '../fixtures/connect-report.ts'

describe('benchmarks: numbers', () => {
  it('shows tenths where they matter', () => {
    expect([0.04, 9.94, 9.96, 428.4, NaN].map(ms)).to.deep.equal(['0.0', '9.9', '10', '428', '-'])
    expect([0.618, NaN].map(times)).to.deep.equal(['0.62x', '-'])
  })

  it('counts minutes where there are some', () => {
    expect([59_400, 59_600, 754_000].map(duration)).to.deep.equal(['59 s', '1 min 0 s', '12 min 34 s'])
  })
})

describe('benchmarks: comparison', () => {
  it('compares round by round', () => {
    // the machine was slow in the second round
    expect(compare([10, 100, 11], [20, 200, 20])).to.include({ ratio: 0.5, noisy: false })
  })

  it('tells noise from a difference', () => {
    expect(compare([10, 21, 10], [11, 20, 12])?.noisy).to.be.true()
  })

  it('has nothing to say without samples', () => {
    expect(compare([1], [])).to.be.undefined()
    expect(compare([1], [0])).to.be.undefined()
  })
})

describe('benchmarks: Markdown', () => {
  it('aligns columns and keeps a pipe in its cell', () => {
    expect(markdownTable({ columns: [{ title: 'stack', align: 'left' }, { title: 'ms' }], rows: [['a|b', '1.5']] })).to.equal([
      '| stack |  ms |',
      '| :---- | --: |',
      '| a\\|b  | 1.5 |'
    ].join('\n'))
  })

  it('says where figures are from', () => {
    const text = provenance({ ...environment('npm run benchmark'), commit: 'abc1234', date: '2026-11-21T01:02:03.000Z', cores: 1 }, { libp2p: '3.3.11' })

    expect(text).to.include('`npm run benchmark` on 2026-11-21 at abc1234: ')
    expect(text).to.include('1 core,')
    expect(text).to.include(process.version)
    expect(text).to.include('libp2p 3.3.11.')
  })
})

describe('benchmarks: results', () => {
  const defer = cleanUpAfterEach()

  it('writes samples, a page and charts', async () => {
    const chart = connectChart(connectReport)
    const files = await writeResults({ name: 'one', json: { samples: [1, 2] }, page: '# One\n\n\n', charts: { one: chart, 'one-more': chart } }, path.join(await temporaryDirectory(defer), 'new'))

    expect(files.map(file => path.basename(file))).to.deep.equal(['one.json', 'one.md', 'one.svg', 'one-more.svg'])
    expect(JSON.parse(await readFile(files[0], 'utf8'))).to.deep.equal({ samples: [1, 2] })
    expect(await readFile(files[1], 'utf8')).to.equal('# One\n')
    expect(await readFile(files[2], 'utf8')).to.match(/^<svg [\s\S]*<\/svg>\n$/)
  })
})
