/* eslint-disable no-console */
import path from 'node:path'
import { Command } from 'commander'
import { numberFrom } from '../../test/lab/arguments.ts'
import { markdownTable } from '../../test/lab/report/table.ts'
import { quotedRatios } from '../readme/quoted.ts'
import { readJson, readReports } from '../readme/reports.ts'
import { differenceTable, differences, disagreements } from './differences.ts'

const WITHIN = 10

export const compareCommand = new Command('compare')
  .description('every ratio of connect, nagle and throughput, in two runs; fails where they disagree')
  .argument('<directory>', 'the results of one run, or ratios.json where only its ratios are kept')
  .argument('<other>', 'those of another')
  .option('--within <percent>', 'how far apart they may be', numberFrom(0), WITHIN)
  .action(async (directory: string, other: string, { within }: { within: number }) => {
    const [before, after] = await Promise.all([directory, other].map(async results => {
      const ratios = await readJson(path.join(results, 'ratios.json')) ?? quotedRatios(await readReports(results))

      if (ratios.length === 0) {
        throw new Error(`There are no results in ${results}`)
      }

      return ratios
    }))
    const all = differences(before, after)
    const apart = disagreements(all, within)
    const missing = apart.filter(({ percent }) => Number.isNaN(percent)).length

    console.log(markdownTable(differenceTable(all, within)))
    console.log(`\n${all.length - apart.length} of ${all.length} ratios agree within ${within} %${missing === 0 ? '' : `; ${missing} are only in one of the two`}.`)
    process.exitCode = apart.length === 0 ? 0 : 1
  })
