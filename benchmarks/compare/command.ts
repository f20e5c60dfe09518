/* eslint-disable no-console */
import { Command } from 'commander'
import { numberFrom } from '../../test/lab/arguments.ts'
import { readReports } from '../report/results.ts'
import { differenceTable, differences, disagreements, ratiosOf } from './differences.ts'

export const compareCommand = new Command('compare')
  .description('every ratio to the official transport in two runs; fails where they disagree')
  .argument('<directory>', 'the results of one run')
  .argument('<other>', 'those of another')
  .option('--within <percent>', 'how far apart they may be', numberFrom(0), 10)
  .action(async (directory: string, other: string, { within }: { within: number }) => {
    const [before, after] = await Promise.all([directory, other].map(async results => {
      const ratios = (await readReports(results)).flatMap(ratiosOf)

      if (ratios.length === 0) {
        throw new Error(`There are no results in ${results}`)
      }

      return ratios
    }))
    const all = differences(before, after)
    const apart = disagreements(all, within)

    console.log(`${differenceTable(all, within)}\n\n${all.length - apart.length} of ${all.length} ratios agree within ${within} %.`)
    process.exitCode = apart.length === 0 ? 0 : 1
  })
