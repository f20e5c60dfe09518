import { expect } from 'aegir/chai'
import { throughputResults } from '../../../../benchmarks/throughput/page.ts'
import { ratioTable } from '../../../../benchmarks/throughput/tables.ts'
import { throughputReport } from '../fixtures/series-reports.ts'

const report = throughputReport()

describe('benchmarks: throughput report', () => {
  it('sets ratios beside the published ones and marks noise', () => {
    const text = throughputResults(report).page

    expect(text).to.match(/^\| official .* 1\.50 \| +- \|$/m)
    expect(text).to.match(/^\| ours .* ~1\.00 \| +0\.67 \|$/m)
    expect(text).to.include('Published for tcp-conn (Go) on its own machine: 1.44 times its raw TCP.')
    expect(text).to.include('strace is not installed')
    expect(text).to.not.match(/NaN|undefined|chunking/)
  })

  it('compares connections with raw net and with each other', () => {
    const { columns, rows } = ratioTable(report, 'connection')

    expect(columns.map(({ title }) => title)).to.deep.equal(['row', 'raw net, us/op', 'official / raw net', 'ours / raw net', 'ours / official', 'tcp-conn (Go) / its raw TCP'])
    expect(rows).to.deep.equal([
      ['small message: 100 B round trip', '10.0', '1.50 (1.50-1.58)', '~1.00 (0.92-1.08)', '0.67 (0.61-0.68)', '-'],
      ['send only: 1 KiB messages, the last one acknowledged', '4.00', '1.50 (1.50-1.50)', '0.50 (0.50-0.50)', '0.33 (0.33-0.33)', '1.44']
    ])
  })

  it('compares streams with the official transport, also where we lose', () => {
    const { columns, rows } = ratioTable(report, 'stream')

    expect(columns.map(({ title }) => title)).to.deep.equal(['row', 'official, us/op', 'ours / official'])
    expect(rows[0]).to.deep.equal(['small message: 100 B round trip', '100', '1.20 (1.20-1.20)'])
    expect(rows[1].slice(1)).to.deep.equal(['-', '-'])
  })

  it('writes a page with both charts and what was measured', () => {
    const page = throughputResults(report).page

    expect(page).to.include('(throughput-connection.svg)')
    expect(page).to.include('(throughput-stream.svg)')
    expect(page).to.include('`npm run benchmark:throughput`')
    expect(page).to.include('- ours (connection): libp2p 3.3.11')
    expect(page).to.not.match(/NaN|undefined/)
    expect(throughputResults(report).charts).to.have.all.keys('throughput-connection', 'throughput-stream')
  })

  it('has nothing of a level where nothing was measured', () => {
    const streams = { ...report, samples: report.samples.filter(({ level }) => level === 'stream') }

    expect(throughputResults(report).page).to.include('## Connection level')
    expect(throughputResults(streams).page).to.not.include('## Connection level')
    expect(throughputResults(streams).page).to.not.include('### send only')
    expect(throughputResults(streams).charts).to.have.all.keys('throughput-stream')
  })
})
