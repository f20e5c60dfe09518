/* eslint-disable no-console */
import { Command } from 'commander'
import { numberFrom } from '../../test/lab/arguments.ts'
import { commandText, outOption } from '../command-line/options.ts'
import { showResults } from '../report/results.ts'
import { fastOpenResults } from './page.ts'
import { runFastOpen } from './run.ts'

export const fastOpenCommand = new Command('fast-open')
  .description('one dial without TCP Fast Open and one with it, each segment captured (needs root and tcpdump)')
  .option('--delay <ms>', 'one-way delay of the link', numberFrom(1), 40)
  .addOption(outOption())
  .action(async ({ delay, out }: { delay: number, out?: string }, command: Command) => {
    const outcome = await runFastOpen(delay, commandText(command))

    if (typeof outcome === 'string') {
      console.log(`${outcome}\nNothing was measured.`)
      return
    }

    await showResults(fastOpenResults(outcome), out)
  })
