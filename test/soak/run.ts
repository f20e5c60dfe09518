/*
 * Two fleets of a hundred nodes do the same side by side for minutes to hours: one of ours, official ones and some in Go, the other without
 * ours. What fails, gets lost or grows with ours and not with official is a fault.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { chartSpec } from '../../benchmarks/report/chart.ts'
import { renderSvg } from '../../benchmarks/report/svg.ts'
import { install } from '../ecosystem/install.ts'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { buildPeer } from '../lab/peers/build.ts'
import { say } from '../lab/process/say.ts'
import { environment, provenance } from '../lab/report/environment.ts'
import { runSuite } from '../lab/suite.ts'
import { FLEETS, Fleet, processorTime } from './fleet.ts'
import { chartOf, seriesOf, summaryOf, tablesOf, verdictOf } from './report.ts'
import type { FleetResult } from './fleet.ts'

await runSuite<{ minutes: number, nodes: number }>(new Command('suite soak')
  .option('--minutes <number>', 'how long', numberFrom(1), 10)
  .option('--nodes <number>', 'of each of the twelve processes', wholeFrom(2), 16), async ({ minutes, nodes, out }, signal) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return { cells: [], missing: 'network namespaces are made on Linux as root' }
  }

  await install()

  if ((await buildPeer('go')).status === 'missing-toolchain') {
    return { cells: [], missing: 'the peers in Go are not built, there is no working go' }
  }

  const results: FleetResult[] = []

  return {
    concurrency: 2,
    cells: Object.keys(FLEETS).map(name => ({
      name,
      async run () {
        let before = { at: performance.now(), cpu: 0 }
        const result = await new Fleet(name, signal).run(minutes, nodes, (minute, result) => {
          const now = { at: performance.now(), cpu: processorTime(process.pid) }
          say(`${name}, ${minute.toFixed(1)} min: ${summaryOf(result)}; all together ${(100 * (now.cpu - before.cpu) / (now.at - before.at)).toFixed(0)} % of a core`)
          before = now
        })
        results.push(result)

        return verdictOf(result)
      }
    })),
    async end () {
      const made = environment(`npm run suite soak -- --minutes ${minutes}`)
      const page = [provenance(made), ...results.map(tablesOf)].join('\n\n')
      process.stdout.write(`${page}\n`)

      if (out != null && results.length > 0) {
        await writeFile(path.join(out, 'soak.md'), `${page}\n`)
        // as docs/figures has it
        await writeFile(path.join(out, 'soak.json'), `${JSON.stringify({ benchmark: 'soak', ...made, rivals: [], notes: [], series: seriesOf(results) })}\n`)
        await writeFile(path.join(out, 'soak.svg'), await renderSvg(chartSpec(chartOf(results, minutes))))
      }
    }
  }
})
