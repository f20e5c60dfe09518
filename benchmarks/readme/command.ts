/* eslint-disable no-console */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, Option } from 'commander'
import { packageRoot } from '../../test/lab/script-path.ts'
import { FIGURES, readReports, writeResults } from '../report/results.ts'
import { FILLED, fill } from './fill.ts'
import { pageOf } from './pages.ts'

export const readmeCommand = new Command('readme')
  .description(`writes the tables of ${FILLED.join(' and ')} and the charts of docs again, from the JSON files in docs/figures`)
  .addOption(new Option('--results <directory>', 'where the JSON files are').default(FIGURES, 'docs/figures'))
  .action(async ({ results }: { results: string }) => {
    const reports = await readReports(results)

    for (const report of reports) {
      await writeResults(pageOf(report), results)
    }

    for (const page of FILLED) {
      const file = path.join(packageRoot(), page)

      await writeFile(file, fill(await readFile(file, 'utf8'), reports))
    }

    console.log(`Written: ${FILLED.join(', ')}, and the charts of ${reports.map(({ benchmark }) => benchmark).join(', ')}`)
  })
