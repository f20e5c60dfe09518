import { SOCKET_INACTIVITY_TIMEOUT } from '../../test/lab/peers/stacks.ts'
import { medianTable, ratioTable } from '../report/tables.ts'
import { namesOf } from '../series.ts'
import type { Results } from '../report/results.ts'
import type { Report } from '../series.ts'

const KiB = 1_024
const TITLES: Record<string, string> = { connection: 'Connections without encryption', stream: 'Connections with Noise and yamux' }

export function scalePage (report: Report): Results {
  const { series } = report

  return {
    report,
    title: 'Many connections',
    about: `Over loopback, each end in a new process. Few connections are dialed and closed again and again until there were enough of them; the time of a close is that until both ends were told, divided by their number. Memory is what one idle connection adds to an end after garbage collection; of few connections it is mostly noise. Connections may be inactive for ${SOCKET_INACTIVITY_TIMEOUT / 3_600_000} h, in place of two minutes. Of CPU, heap and close both ends are counted together. ~: the rounds do not agree which is less.`,
    sections: namesOf(series, 'group').flatMap(group => [
      { title: `${TITLES[group]}, to official`, table: ratioTable(series, group, ['CPU', 'heap', 'close', 'close CPU'], 'official') },
      {
        title: TITLES[group],
        table: medianTable(series, group, [
          { title: 'dials/s', metric: 'dials', spread: true },
          { title: 'CPU us/dial', metric: 'CPU' },
          { title: 'loop p99, ms', metric: 'loop p99' },
          { title: 'close, us', metric: 'close' },
          { title: 'close CPU, us', metric: 'close CPU' },
          ...['heap', 'external', 'rss'].flatMap(memory => ['dialer', 'listener'].map(end => ({ title: `${memory} KiB, ${end}`, metric: `${memory} ${end}`, divisor: KiB }))),
          { title: 'dropped', metric: 'dropped' }
        ])
      }
    ]),
    charts: {}
  }
}
