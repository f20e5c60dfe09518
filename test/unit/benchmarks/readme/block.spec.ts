import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { replaceBlock } from '../../../../benchmarks/readme/block.ts'
import { summaryBlock } from '../../../../benchmarks/readme/summary.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../../../fixtures/cleanup.ts'
import { scriptPath } from '../../../lab/script-path.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'

const reports = { connect: connectReport, nagle: nagleReport, throughput: throughputReport(), scale: scaleReport() }

describe('benchmarks: figures of README', () => {
  const block = summaryBlock(reports)
  const row = (title: string): RegExp => new RegExp(`^\\| ${title} +\\| +(.*?) \\| +(.*?) \\| +(.*?) \\|$`, 'm')

  it('are three that we win and three that we lose', () => {
    const [gains, costs] = block.split('## What it costs')

    expect(gains.match(/^\| [^|:]/gm)).to.have.lengthOf(4)
    expect(costs.match(/^\| [^|:]/gm)).to.have.lengthOf(4)
  })

  it('compare ours with the official transport', () => {
    expect(row('dial to first echoed byte, 80 ms away').exec(block)?.slice(1)).to.deep.equal(['3.1 round trips, 245 ms', '3.0 round trips, 242 ms', '~0.99'])
    expect(row('`close\\(\\)` waits for the peer\'s FIN, 80 ms away').exec(block)?.slice(1)).to.deep.equal(['2.0 ms', '2.0 ms', '1.00'])
    expect(row('1 KiB message of many on one stream').exec(block)?.slice(1)).to.deep.equal(['- us', '- us', '-'])
  })

  it('name the commands and link to every figure', () => {
    expect(block).to.include('`npm run benchmark` at').and.to.include('`npm run benchmark:throughput` at').and.to.include('(docs/benchmarks.md)')
    expect(block).to.not.match(/NaN|undefined/)
  })

  it('leave out what was never measured', () => {
    expect(summaryBlock({ connect: reports.connect })).to.not.include('KiB')
  })
})

describe('benchmarks: blocks of figures', () => {
  const defer = cleanUpAfterEach()

  it('stand between the markers of a page, and nothing else changes', () => {
    const page = (text: string): string => `before\n<!-- benchmarks:start -->${text}<!-- benchmarks:end -->\nafter`

    expect(replaceBlock(page('\nold\n'), 'new')).to.equal(page('\n\nnew\n\n'))
    expect(replaceBlock(replaceBlock(page(''), 'new'), 'new')).to.equal(page('\n\nnew\n\n'))
    expect(() => replaceBlock('no markers', 'new')).to.throw('benchmarks:start')
  })

  it('are written from the JSON files alone', async () => {
    const directory = await temporaryDirectory(defer)
    const file = path.join(directory, 'readme.md')

    await Promise.all(Object.entries(reports).map(async ([name, report]) => writeFile(path.join(directory, `${name}.json`), JSON.stringify(report))))
    await writeFile(file, '<!-- benchmarks:start -->\n<!-- benchmarks:end -->\n')
    await execa(process.execPath, [scriptPath(import.meta.url, '../../../../benchmarks/cli'), 'readme', '--results', directory, '--readme', file])

    expect(await readFile(file, 'utf8')).to.equal(`<!-- benchmarks:start -->\n\n${summaryBlock(reports)}\n\n<!-- benchmarks:end -->\n`)
  })
})
