/* eslint-disable no-console */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, Option } from 'commander'
import { connectResults } from '../connect/page.ts'
import { nagleResults } from '../nagle/page.ts'
import { writeResults } from '../report/results.ts'
import { scaleResults } from '../scale/page.ts'
import { RESULTS, packageRoot } from '../script-path.ts'
import { throughputResults } from '../throughput/page.ts'
import { replaceBlock } from './block.ts'
import { figuresBlock } from './figures.ts'
import { readReports } from './reports.ts'
import { summaryBlock } from './summary.ts'

export const readmeCommand = new Command('readme')
  .description('writes the figures of README and docs/benchmarks.md, the pages and the charts again, from the JSON files of the results')
  .addOption(new Option('--results <directory>', 'where the JSON files are').default(RESULTS, 'benchmarks/results'))
  .addOption(new Option('--readme <file>', 'where the summary between the markers is replaced').default(path.join(packageRoot(), 'README.md'), 'README.md'))
  .addOption(new Option('--figures <file>', 'where all figures between the markers are replaced').default(path.join(packageRoot(), 'docs/benchmarks.md'), 'docs/benchmarks.md'))
  .action(async ({ results, readme, figures }: { results: string, readme: string, figures: string }) => {
    const reports = await readReports(results)
    const { connect, nagle, throughput, scale } = reports
    const all = [
      connect && connectResults(connect),
      nagle && nagleResults(nagle),
      throughput && throughputResults(throughput),
      scale && scaleResults(scale)
    ]

    await Promise.all(all.map(async suite => suite && writeResults(suite, results)))

    for (const [file, block] of [[readme, summaryBlock(reports)], [figures, figuresBlock(reports)]]) {
      await writeFile(file, replaceBlock(await readFile(file, 'utf8'), block))
    }

    console.log(`Written: ${[readme, figures, ...all.flatMap(suite => suite == null ? [] : `${suite.name}.md and its charts`)].join(', ')}`)
  })
