/* eslint-disable no-console */
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { Command } from 'commander'
import { namesIn } from '../../test/lab/peers/registry.ts'
import { duration } from '../../test/lab/report/numbers.ts'
import { outOption } from '../command-line/options.ts'
import { FIGURES } from '../report/results.ts'

const SUITES = ['connect', 'nagle', 'throughput', 'scale', 'load', 'addresses']

/** Also the contenders that are timed only where they are named, and the line that pages show, for as long as the chart is */
const FULL_RUN: Record<string, string[]> = {
  connect: ['--rivals', namesIn('connect').join()],
  load: ['--seconds', '60', '--slow-readers', 'none', '--pairs', 'official:official,transport:official,ours:official,ours:ours,linux:linux,go:go']
}

/** In minutes; all others have a `--quick` */
const QUICK_RUN: Record<string, string[]> = {
  load: ['--seconds', '15', '--slow-readers', 'none', '--pairs', 'official:official,ours:ours'],
  addresses: ['--rounds', '1', '--counts', '0,1', '--dead', 'silent', '--stacks', 'official,ours', '--peers', '0']
}

export const allCommand = new Command('all')
  .description(`${SUITES.join(', ')} one after the other, and then readme; in two hours`)
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
      await program?.parseAsync([suite, ...(quick ? QUICK_RUN[suite] ?? ['--quick'] : FULL_RUN[suite] ?? []), '--out', path.relative(process.cwd(), out)], { from: 'user' })
      taken.push(`${suite} ${duration(performance.now() - begun)}`)
    }

    if (isForReadme) {
      await program?.parseAsync(['readme'], { from: 'user' })
    }

    console.error(`All took ${duration(performance.now() - started)}: ${taken.join(', ')}.`)
  })
