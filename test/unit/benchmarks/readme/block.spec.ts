import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { readmeBlock, replaceBlock } from '../../../../benchmarks/readme/block.ts'
import { scriptPath } from '../../../../benchmarks/script-path.ts'
import { connectReport } from '../fixtures/connect-report.ts'
import { nagleReport } from '../fixtures/nagle-report.ts'
import { scaleReport, throughputReport } from '../fixtures/series-reports.ts'

const reports = { connect: connectReport, nagle: nagleReport, throughput: throughputReport(), scale: scaleReport() }

describe('benchmarks: figures of README', () => {
  const block = readmeBlock(reports)

  it('have a table and a chart for each suite', () => {
    expect(block).to.match(/^\| the official stack \| +3\.1 \| 245 \| 243-247 \| +1\.00x \|$/m)
    expect(block).to.match(/^\| small message: 100 B round trip +\| +10\.0 \| +1\.50 \(1\.50-1\.58\) \| +~1\.00 /m)
    expect(block).to.match(/^\| +1,000 \| ours +\| +10,000 \| +102 \|/m)
    expect([...block.matchAll(/\(benchmarks\/results\/([\w-]+)\.svg\)/g)].map(([, name]) => name))
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
    expect(readmeBlock({ scale: reports.scale })).to.not.match(/Throughput|Nagle/)
  })

  it('stand between the markers of a page, and nothing else changes', () => {
    const page = (text: string): string => `before\n<!-- benchmarks:start -->${text}<!-- benchmarks:end -->\nafter`

    expect(replaceBlock(page('\nold\n'), 'new')).to.equal(page('\n\nnew\n\n'))
    expect(replaceBlock(replaceBlock(page(''), 'new'), 'new')).to.equal(page('\n\nnew\n\n'))
    expect(() => replaceBlock('no markers', 'new')).to.throw('benchmarks:start')
  })

  it('are written from the JSON files alone', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'readme-'))
    const file = path.join(directory, 'README.md')

    try {
      await Promise.all(Object.entries(reports).map(async ([name, report]) => writeFile(path.join(directory, `${name}.json`), JSON.stringify(report))))
      await writeFile(file, '<!-- benchmarks:start -->\n<!-- benchmarks:end -->\n')
      await execa(process.execPath, [scriptPath(import.meta.url, '../../../../benchmarks/cli'), 'readme', '--results', directory, '--file', file])

      expect(await readFile(file, 'utf8')).to.equal(`<!-- benchmarks:start -->\n\n${block}\n\n<!-- benchmarks:end -->\n`)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
