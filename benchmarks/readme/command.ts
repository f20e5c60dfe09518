/* eslint-disable no-console */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, Option } from 'commander'
import { packageRoot } from '../../test/lab/script-path.ts'
import { FIGURES, readReports, writeResults } from '../report/results.ts'
import { pageOf } from './pages.ts'
import { summaryBlock } from './summary.ts'

export const readmeCommand = new Command('readme')
  .description('writes the table of README and the charts of docs again, from the JSON files in docs/figures')
  .addOption(new Option('--results <directory>', 'where the JSON files are').default(FIGURES, 'docs/figures'))
  .addOption(new Option('--readme <file>', 'where the summary between the markers is replaced').default(path.join(packageRoot(), 'README.md'), 'README.md'))
  .action(async ({ results, readme }: { results: string, readme: string }) => {
    const reports = await readReports(results)

    for (const report of reports) {
      await writeResults(pageOf(report), results)
    }

    await writeFile(readme, replaceBlock(await readFile(readme, 'utf8'), summaryBlock(reports)))

    console.log(`Written: ${readme}, and the charts of ${reports.map(({ benchmark }) => benchmark).join(', ')}`)
  })

const START = '<!-- benchmarks:start -->'
const END = '<!-- benchmarks:end -->'

/** Puts a block between the markers of a page. */
function replaceBlock (page: string, block: string): string {
  const [start, end] = [START, END].map(marker => page.indexOf(marker))

  if (start === -1 || end < start) {
    throw new Error(`The page has no lines ${START} and ${END}`)
  }

  return `${page.slice(0, start)}${START}\n\n${block}\n\n${page.slice(end)}`
}
