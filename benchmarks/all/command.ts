import { Command } from 'commander'
import { outOption } from '../command-line/options.ts'
import { RESULTS } from '../report/results-directory.ts'

const SUITES = ['connect', 'nagle', 'throughput', 'scale']

export const allCommand = new Command('all')
  .description('connect, nagle, throughput and scale one after the other, and then readme')
  .option('--quick', 'each as with --quick; README is left alone')
  .addOption(outOption().default(RESULTS, 'benchmarks/results; elsewhere README is left alone'))
  .action(async ({ quick = false, out }: { quick?: boolean, out: string }, { parent: program }: Command) => {
    const isForReadme = out === RESULTS && !quick

    for (const suite of SUITES) {
      // a report names the command that makes it again alone
      await program?.parseAsync([suite, ...(quick ? ['--quick'] : []), '--out', ...(out === RESULTS ? [] : [out])], { from: 'user' })
    }

    if (isForReadme) {
      await program?.parseAsync(['readme'], { from: 'user' })
    }
  })
