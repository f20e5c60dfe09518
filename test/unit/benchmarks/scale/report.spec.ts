import { expect } from 'aegir/chai'
import { scaleResults } from '../../../../benchmarks/scale/page.ts'
import { QUANTITIES, summaryOf } from '../../../../benchmarks/scale/quantities.ts'
import { quantityTable } from '../../../../benchmarks/scale/tables.ts'
import { scaleReport } from '../fixtures/series-reports.ts'

const report = scaleReport()

describe('benchmarks: scale report', () => {
  it('shows how costs grow', () => {
    expect(scaleResults(report).page).to.match(/^\| ours +\| +1\.00 : 2\.00 /m)
  })

  it('says how long connections lay idle, and how many were dropped in any round', () => {
    const page = scaleResults(report).page

    expect(page).to.include('Connections lay idle for 1,000 ms. Dropped meanwhile, in all rounds: raw net 0 of 3,030, official 2 of 3,030, ours 0 of 3,030.')
    expect(page).to.include('in all rounds: official 0 of 30, ours 0 of 30.')
  })

  it('joins both ends round by round', () => {
    const of = { row: '10', level: 'connection', rival: 'ours' }
    const medians = Object.fromEntries(QUANTITIES.map(quantity => [quantity.title, summaryOf(report, quantity, of)?.median]))

    expect(medians).to.deep.equal({ 'dial rate': 10_000, CPU: 102, heap: 3, RSS: -4, 'event-loop delay': 3, 'close time': 31, 'close CPU': 12 })
  })

  it('lists a line for each number of connections and rival', () => {
    const { rows } = quantityTable(report, 'connection')

    expect(rows.map(([count, rival]) => `${count} ${rival}`)).to.deep.equal(['10 raw net', '10 official', '10 ours', '1,000 raw net', '1,000 official', '1,000 ours'])
    expect(rows[2]).to.deep.equal(['10', 'ours', '10,000', '102', '3.00', '-4.00', '3.00', '31.0', '12.0'])
  })

  it('writes a page with a chart for each level', () => {
    const page = scaleResults(report).page

    expect(page).to.include('(scale-connection.svg)')
    expect(page).to.include('(scale-stream.svg)')
    expect(page).to.include('`npm run benchmark:scale`')
    expect(page).to.not.match(/NaN|undefined/)
  })
})
