import { Command, Option } from 'commander'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { say } from '../lab/process/say.ts'
import { environment } from '../lab/report/environment.ts'
import { writeReport } from '../lab/report/page.ts'
import { choose, withChoice } from '../lab/suite/choose.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { buildBinaries } from './binaries.ts'
import { allCells, isBaselineOf, isNative, nameOf } from './cells.ts'
import { excesses, faults } from './limits.ts'
import { measure } from './measure.ts'
import { report } from './report.ts'
import { versions } from './versions.ts'
import type { MeasureOptions } from './measure.ts'
import type { Results } from './results.ts'
import type { Choice } from '../lab/suite/choose.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

/**
 * Dials go-libp2p, rust-libp2p and the official js-libp2p from ours and the
 * other way round: a hundred times each over loopback, and a few times each over
 * a delayed link to count round trips.
 */

interface Flags extends Choice, Pick<MeasureOptions, 'dials' | 'runs' | 'delay' | 'delayed'> {
  transport?: string
}

async function main (flags: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  if (flags.transport != null) {
    // the peers inherit it: test/fixtures/transport.ts
    process.env.TRANSPORT = flags.transport
  }

  const binaries = await buildBinaries()
  const chosen = choose(allCells(), nameOf, flags)
  // and what each of them is compared with
  const cells = allCells().filter(cell => chosen.some(one => nameOf(one) === nameOf(cell) || isBaselineOf(cell, one)))
    .filter(({ dialer, listener }) => [dialer, listener].every(kind => !isNative(kind) || binaries[kind] != null))
  const measured = await measure(cells, { ...flags, binaries, signal, again })
  const results: Results = { environment: environment(command), versions: await versions(), ...measured }

  if (cells.length === allCells().length && results.link != null && flags.transport == null) {
    await writeReport(import.meta.dirname, results, report)
  } else {
    process.stdout.write(report(results))
    say('RESULTS.md stays as it was: this was not the whole matrix of tcp() without options')
  }

  // may be the machine's doing
  excesses(results).forEach(say)

  return faults(results)
}

await runSuite(withChoice(new Command('test:interop'))
  .option('--dials <count>', 'dials per cell over loopback', wholeFrom(1), 100)
  .option('--runs <count>', 'measured dials per cell over the delayed link', wholeFrom(1), 10)
  .option('--delay <ms>', 'one-way delay of that link', numberFrom(1), 40)
  .addOption(new Option('--transport <name>', 'ours with the option reusePort, where dialers listen too, or with fastOpen').choices(['reuse-port', 'fast-open']))
  .option('--no-delayed', 'skip that link'), main)
