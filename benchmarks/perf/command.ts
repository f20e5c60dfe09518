import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { outOption, prepareContenders, seedOption } from '../command-line/options.ts'
import { inTurn } from '../in-turn.ts'
import { reportOf } from '../report/report.ts'
import { showResults } from '../report/results.ts'
import { medianTable, ratioTable } from '../report/tables.ts'
import { namesOf } from '../series.ts'
import { isNative, measurePerf } from './measure.ts'
import type { Results } from '../report/results.ts'
import type { Report } from '../series.ts'
import type { Dialer, Listener } from './measure.ts'

interface PerfFlags {
  quick?: boolean
  dialers?: Dialer[]
  listeners?: Listener[]
  rounds?: number
  size?: number
  seed: number
  out?: string
}

const DIALERS: Dialer[] = ['official', 'transport', 'ours', 'go', 'rust']
const LISTENERS: Listener[] = ['itself', 'official', 'go', 'rust']

const FULL = { rounds: 7, size: 256, dialers: DIALERS, listeners: LISTENERS }
const QUICK = { rounds: 1, size: 16, dialers: DIALERS.slice(0, 3), listeners: LISTENERS.slice(0, 2) }

export const perfCommand = new Command('perf')
  .description('/perf/1.0.0 of the libp2p specification: bulk up and down and the latency of a byte, to js, go and rust')
  .option('--quick', 'one round of 16 MiB, to js; in a minute')
  .option('--dialers <list>', `${DIALERS.join()} (quick: ${QUICK.dialers.join()}); go and rust dial their own kind`, listOf(oneOf(DIALERS)))
  .option('--listeners <list>', `${LISTENERS.join()} (quick: ${QUICK.listeners.join()})`, listOf(oneOf(LISTENERS)))
  .option('--rounds <n>', `how often each is measured (default: ${FULL.rounds}, quick: ${QUICK.rounds})`, wholeFrom(1))
  .option('--size <MiB>', `each way (default: ${FULL.size}, quick: ${QUICK.size})`, numberFrom(1))
  .addOption(seedOption())
  .addOption(outOption())
  .action(async ({ quick = false, out, seed, ...flags }: PerfFlags, command: Command) => {
    const { size, rounds, dialers, listeners } = { ...quick ? QUICK : FULL, ...flags }
    const wanted = [...new Set([...dialers, ...listeners.filter(listener => listener !== 'itself')])]
    const { contenders, notes } = await prepareContenders(wanted.map(name => contenderNamed('stream', name)))
    const isThere = (name: string): boolean => contenders.some(contender => contender.name === name)
    const jobs = listeners.flatMap(listener => dialers
      .filter(dialer => isThere(dialer) && (listener === 'itself' || (isThere(listener) && !isNative(dialer))))
      .map(dialer => ({ group: listener, row: `${size} MiB`, rival: dialer, measure: async () => measurePerf(dialer, listener, size * 1_048_576) })))
    const { series, failures } = await inTurn(jobs, { rounds, seed })

    await showResults(perfPage(reportOf('perf', command, { seed, contenders, notes: [...notes, ...failures], series })), out)
  })

const GROUPS: Record<string, string> = { itself: 'its own kind', official: '@libp2p/tcp', go: 'go-libp2p 0.51', rust: 'rust-libp2p 0.57' }

export function perfPage (report: Report): Results {
  const { series } = report

  return {
    report,
    title: '/perf/1.0.0',
    about: 'All bytes up, then down, on a stream each, over loopback; then the latency of one byte up and one down on a new stream. Dialer and listener are new processes; CPU is that of the dialer. Ratios are of times, to official dialing the same listener. ~: the rounds do not agree which is less.',
    sections: namesOf(series, 'group').flatMap(group => [
      {
        title: `To ${GROUPS[group]}`,
        table: [
          ratioTable(series, group, ['up', 'up CPU', 'down', 'down CPU', 'one byte'], 'official'),
          medianTable(series, group, [
            { title: 'up, MiB/s', metric: 'rate up', spread: true },
            { title: 'down, MiB/s', metric: 'rate down', spread: true },
            { title: 'CPU up, ms', metric: 'up CPU' },
            { title: 'CPU down, ms', metric: 'down CPU' },
            { title: 'one byte, ms', metric: 'one byte', spread: true }
          ])
        ].join('\n\n')
      }
    ]),
    charts: {}
  }
}
