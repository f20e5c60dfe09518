/* eslint-disable no-console */
import { Command } from 'commander'
import { numberFrom } from '../command-line/arguments.ts'
import { commandText } from '../command-line/command-text.ts'
import { outOption } from '../command-line/options.ts'

export const fastOpenCommand = new Command('fast-open')
  .description('one dial without TCP Fast Open and one with it, each segment captured (needs root and tcpdump)')
  .option('--delay <ms>', 'one-way delay of the link', numberFrom(1), 40)
  .addOption(outOption())
  .action(async ({ delay, out }: { delay: number, out: string }, command: Command) => {
    // what draws charts is slow to load
    const [{ runFastOpen }, { fastOpenResults }, { showResults }] = await Promise.all([
      import('./run.ts'),
      import('./page.ts'),
      import('../report/results.ts')
    ])
    const outcome = await runFastOpen(delay, commandText(command))

    if (typeof outcome === 'string') {
      console.log(`${outcome}\nNothing was measured.`)
      return
    }

    await showResults(fastOpenResults(outcome), out)
  })
