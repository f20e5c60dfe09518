/* eslint-disable no-console */
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { Command } from 'commander'
import { namesIn } from '../../test/lab/peers/registry.ts'
import { duration } from '../../test/lab/report/numbers.ts'
import { outOption } from '../command-line/options.ts'
import { FIGURES } from '../report/results.ts'

const SUITES = ['connect', 'nagle', 'throughput', 'scale']

/** Also the contenders that are timed only where they are named */
const FULL_RUN: Record<string, string[]> = {
  connect: ['--rivals', namesIn('connect').join()]
}

export const allCommand = new Command('all')
  .description('connect, nagle, throughput and scale one after the other, and then readme; in about an hour')
  .option('--quick', 'each as with --quick; README is left alone')
  .addOption(outOption().default(FIGURES, 'docs/figures; elsewhere README is left alone'))
  .action(async ({ quick = false, out }: { quick?: boolean, out: string }, { parent: program }: Command) => {
    const isForReadme = out === FIGURES && !quick
    const taken: string[] = []
    const started = performance.now()

    for (const [index, suite] of SUITES.entries()) {
      const begun = performance.now()
      console.error(`${suite}, ${index + 1} of ${SUITES.length}`)
      // a report names the command that makes it again alone
      await program?.parseAsync([suite, ...(quick ? ['--quick'] : FULL_RUN[suite] ?? []), '--out', path.relative(process.cwd(), out)], { from: 'user' })
      taken.push(`${suite} ${duration(performance.now() - begun)}`)
    }

    if (isForReadme) {
      await program?.parseAsync(['readme'], { from: 'user' })
    }

    console.error(`All took ${duration(performance.now() - started)}: ${taken.join(', ')}.`)
  })
