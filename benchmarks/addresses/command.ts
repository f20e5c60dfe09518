import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { outOption, prepareContenders } from '../command-line/options.ts'
import { reportOf } from '../report/report.ts'
import { showResults } from '../report/results.ts'
import { STACKS } from './ends.ts'
import { DEAD, measureAddresses } from './measure.ts'
import { addressesPage } from './page.ts'
import type { AddressesInit } from './measure.ts'

export const addressesCommand = new Command('addresses')
  .description('dials of peers with dead addresses, and a crawl of many such peers (needs root and socat)')
  .option('--delay <ms>', 'one-way delay of the link', numberFrom(1), 40)
  .option('--stacks <list>', STACKS.join(), listOf(oneOf([...STACKS])), [...STACKS])
  .option('--dead <list>', DEAD.join(), listOf(oneOf([...DEAD])), [...DEAD])
  .option('--counts <list>', 'how many dead addresses stand before the live one', listOf(wholeFrom(0)), [0, 1, 2, 6, 20])
  .option('--rounds <n>', 'dials of each', wholeFrom(1), 3)
  .option('--peers <n>', 'how many are crawled, 0 for no crawl', wholeFrom(0), 200)
  .option('--limit <s>', 'how long a crawl may take', numberFrom(1), 60)
  .option('--seed <n>', 'for the order, and which addresses of the crawl are dead', wholeFrom(0), 1)
  .addOption(outOption())
  .action(async ({ out, ...flags }: AddressesInit & { out?: string }, command: Command) => {
    const { contenders, notes } = await prepareContenders(flags.stacks.map(stack => contenderNamed('stream', stack)))
    const stacks = flags.stacks.filter(stack => contenders.some(({ name }) => name === stack))
    const { series, failures, ...measured } = await measureAddresses({ ...flags, stacks })
    const report = reportOf('addresses', command, { seed: flags.seed, contenders, notes: [...notes, ...failures], series })

    await showResults(addressesPage({ ...report, ...measured }), out)
  })
