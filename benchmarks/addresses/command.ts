import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { commandText, outOption } from '../command-line/options.ts'
import { showResults } from '../report/results-old.ts'
import { addressesResults } from './page.ts'
import { DEAD } from './report.ts'
import { runAddresses } from './run.ts'
import type { StackName } from './report.ts'
import type { AddressesInit } from './run.ts'

const STACKS: StackName[] = ['official', 'transport', 'ours', 'go', 'rust']

export const addressesCommand = new Command('addresses')
  .description('dials of peers with dead addresses, and a crawl of many such peers (needs root and socat)')
  .option('--delay <ms>', 'one-way delay of the link', numberFrom(1), 40)
  .option('--stacks <list>', STACKS.join(), listOf(oneOf(STACKS)), STACKS)
  .option('--dead <list>', DEAD.join(), listOf(oneOf([...DEAD])), [...DEAD])
  .option('--counts <list>', 'how many dead addresses stand before the live one', value => value.split(',').map(wholeFrom(0)), [0, 1, 2, 6, 20])
  .option('--rounds <n>', 'dials of each', wholeFrom(1), 3)
  .option('--batches <n>', 'of 50 dials each to a live first address, with the race and without, 0 for none', wholeFrom(0), 20)
  .option('--peers <n>', 'how many are crawled, 0 for no crawl', wholeFrom(0), 200)
  .option('--limit <s>', 'how long a crawl may take', numberFrom(1), 60)
  .option('--seed <n>', 'for which addresses of the crawl are dead', wholeFrom(0), 1)
  .addOption(outOption())
  .action(async ({ out, ...flags }: Omit<AddressesInit, 'command'> & { out?: string }, command: Command) => {
    const report = await runAddresses({ ...flags, command: commandText(command) })

    await showResults(addressesResults(report), out)
  })
