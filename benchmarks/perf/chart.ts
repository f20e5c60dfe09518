import { NAMES } from '../../test/lab/peers/names.ts'
import { percentile } from '../../test/lab/statistics.ts'
import { legend } from '../report/legend.ts'
import { RIVALS } from '../report/palette.ts'
import type { PerfReport } from './run.ts'
import type { TopLevelSpec } from 'vega-lite'

interface Bar {
  name: string
  listener: string
  direction: string
  rate: number
  p10: number
  p90: number
}

const WIDTH = 300

/** What each dialer moves in a second, by listener, up and down beside each other */
export function perfChart ({ rows, bytes }: PerfReport): TopLevelSpec {
  const bars = rows.flatMap(({ dialer, listener, up, down }) => [bar(dialer, listener, 'up', up), bar(dialer, listener, 'down', down)])
  const dialers = [...new Set(rows.map(({ dialer }) => dialer))]

  function bar (dialer: string, listener: string, direction: string, samples: Array<{ ms: number }>): Bar {
    const rates = samples.map(({ ms }) => bytes / 1_048_576 / ms * 1_000)

    return { name: NAMES[dialer], listener: `to ${listener}`, direction, rate: percentile(rates, 50), p10: percentile(rates, 10), p90: percentile(rates, 90) }
  }

  return {
    title: { text: '/perf/1.0.0', subtitle: ['MiB per second through Noise and yamux, medians; lines go from the 10th to the 90th percentile.'] },
    description: '/perf/1.0.0: MiB per second',
    spacing: 16,
    vconcat: [
      legend(dialers.map(name => ({ name: NAMES[name], colour: RIVALS[name] }))),
      {
        spacing: 24,
        hconcat: ['up', 'down'].map(direction => ({
          title: { text: direction, fontSize: 12 },
          width: WIDTH,
          height: { step: 14 },
          data: { values: bars.filter(bar => bar.direction === direction) },
          encoding: {
            y: { field: 'listener', type: 'nominal', title: null, sort: null },
            yOffset: { field: 'name', sort: dialers.map(name => NAMES[name]) }
          },
          layer: [
            {
              mark: { type: 'bar' },
              encoding: {
                x: { field: 'rate', type: 'quantitative', title: null },
                color: { field: 'name', type: 'nominal', legend: null, scale: { domain: dialers.map(name => NAMES[name]), range: dialers.map(name => RIVALS[name]) } }
              }
            },
            { mark: { type: 'rule', strokeWidth: 1.5 }, encoding: { x: { field: 'p10', type: 'quantitative' }, x2: { field: 'p90' } } }
          ]
        }))
      }
    ]
  } as unknown as TopLevelSpec
}
