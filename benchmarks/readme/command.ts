/* eslint-disable no-console */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, Option } from 'commander'
import { packageRoot } from '../../test/lab/script-path.ts'
import { connectResults } from '../connect/page.ts'
import { nagleResults } from '../nagle/page.ts'
import { FIGURES, writeResults } from '../report/results.ts'
import { scaleResults } from '../scale/page.ts'
import { throughputResults } from '../throughput/page.ts'
import { replaceBlock } from './block.ts'
import { readReports } from './reports.ts'
import { summaryBlock } from './summary.ts'

export const readmeCommand = new Command('readme')
  .description('writes the table of README and the charts of docs again, from the JSON files in docs/figures')
  .addOption(new Option('--results <directory>', 'where the JSON files are').default(FIGURES, 'docs/figures'))
  .addOption(new Option('--readme <file>', 'where the summary between the markers is replaced').default(path.join(packageRoot(), 'README.md'), 'README.md'))
  .action(async ({ results, readme }: { results: string, readme: string }) => {
    const reports = await readReports(results)
    const { connect, nagle, throughput, scale } = reports
    const all = [
      connect && connectResults(connect),
      nagle && nagleResults(nagle),
      throughput && throughputResults(throughput),
      scale && scaleResults(scale)
    ]

    await Promise.all(all.map(async suite => suite && writeResults(suite, results)))

    await writeFile(readme, replaceBlock(await readFile(readme, 'utf8'), summaryBlock(reports)))

    console.log(`Written: ${[readme, ...all.flatMap(suite => suite == null ? [] : `the charts of ${suite.name}`)].join(', ')}`)
  })
