import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { replaceBlock } from '../../../../benchmarks/readme/block.ts'
import { figuresBlock } from '../../../../benchmarks/readme/figures.ts'
import { summaryBlock } from '../../../../benchmarks/readme/summary.ts'
import { scriptPath } from '../../../../benchmarks/script-path.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../../../fixtures/cleanup.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'

const reports = { connect: connectReport, nagle: nagleReport, throughput: throughputReport(), scale: scaleReport() }

describe('benchmarks: figures of docs/benchmarks.md', () => {
  const block = figuresBlock(reports)

  it('have a table and a chart for each suite', () => {
    expect(block).to.match(/^\| the official stack \| +3\.1 \| 245 \| 243-247 \| +1\.00x \|$/m)
    expect(block).to.match(/^\| small message: 100 B round trip +\| +10\.0 \| +1\.50 \(1\.50-1\.58\) \| +~1\.00 /m)
    expect(block).to.match(/^\| +1,000 \| ours +\| +10,000 \| +102 \|/m)
    expect([...block.matchAll(/\(\.\.\/benchmarks\/results\/([\w-]+)\.svg\)/g)].map(([, name]) => name))
      .to.deep.equal(['connect', 'nagle', 'throughput-connection', 'throughput-stream', 'scale-connection', 'scale-stream'])
  })

  it('say what Nagle\'s algorithm does, and what it does not', () => {
    expect(block).to.match(/^\| ours +\| false .* 1 \+ 9 /m)
    expect(block).to.include('is not what made js-libp2p slower')
  })

  it('name commands, versions and the machine', () => {
    for (const command of ['npm run benchmark', 'npm run benchmark:nagle', 'npm run benchmark:throughput', 'npm run benchmark:scale']) {
      expect(block).to.include(`\`${command}\` on ${connectReport.date.slice(0, 10)}`)
    }

    expect(block).to.include(connectReport.cpu)
    expect(block).to.include('libp2p 3.3.11')
    expect(block).to.not.match(/NaN|undefined/)
  })

  it('leave out what was never measured', () => {
    expect(figuresBlock({ scale: reports.scale })).to.not.match(/Throughput|Nagle/)
  })
})

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
    const pages = { readme: summaryBlock(reports), figures: figuresBlock(reports) }
    const files = Object.keys(pages).map(name => path.join(directory, `${name}.md`))

    await Promise.all([
      ...Object.entries(reports).map(async ([name, report]) => writeFile(path.join(directory, `${name}.json`), JSON.stringify(report))),
      ...files.map(async file => writeFile(file, '<!-- benchmarks:start -->\n<!-- benchmarks:end -->\n'))
    ])
    await execa(process.execPath, [scriptPath(import.meta.url, '../../../../benchmarks/cli'), 'readme', '--results', directory, '--readme', files[0], '--figures', files[1]])

    expect(await Promise.all(files.map(async file => readFile(file, 'utf8'))))
      .to.deep.equal(Object.values(pages).map(block => `<!-- benchmarks:start -->\n\n${block}\n\n<!-- benchmarks:end -->\n`))
  })
})
