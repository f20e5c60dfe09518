import { expect } from 'aegir/chai'
import { SeriesList } from '../../../../benchmarks/series.ts'
import { isPrecise } from '../../../../benchmarks/throughput/fields.ts'
import { rowNamed } from '../../../../benchmarks/throughput/rows/registry.ts'
import { selectContenders } from '../../../lab/peers/registry.ts'
import type { Series } from '../../../../benchmarks/series.ts'
import type { Field } from '../../../../benchmarks/throughput/fields.ts'

describe('benchmarks: precision', () => {
  const field: Field = { row: rowNamed('small'), level: 'connection', rivals: selectContenders('throughput', { levels: ['connection'] }) }

  function times (official: number[], ours: number[]): Series[] {
    const list = new SeriesList()

    Object.entries({ net: [10, 20, 10, 20], official, ours }).forEach(([rival, samples]) => {
      samples.forEach(sample => { list.add({ row: 'small', level: 'connection', rival, metric: 'time' }, 'us/op', sample) })
    })

    return list.series
  }

  it('is that of ratios: what slows all of a round down takes nothing from it', () => {
    expect(isPrecise(field, times([20, 40, 20, 40], [5, 10, 5, 10]), 0.01)).to.be.true()
  })

  it('is not there while two of the rivals are at odds', () => {
    const series = times([20, 40, 20, 40], [5, 11, 5, 9])

    expect(isPrecise(field, series, 0.01)).to.be.false()
    expect(isPrecise(field, series, 0.1)).to.be.true()
  })

  it('is not there after one round', () => {
    expect(isPrecise(field, times([20], [5]), 0.1)).to.be.false()
  })
})
