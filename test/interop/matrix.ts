import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, Option } from 'commander'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { seededRandom, shuffled } from '../lab/process/random.ts'
import { packageRoot } from '../lab/script-path.ts'
import { buildBinaries } from './binaries.ts'
import { allCells, isBaselineOf, isNative } from './cells.ts'
import { endOnSignal } from './end-on-signal.ts'
import { complaints, faults } from './limits.ts'
import { measure } from './measure.ts'
import { report, tables } from './report.ts'
import { toJson } from './results.ts'
import { versions } from './versions.ts'
import type { Cell } from './cells.ts'
import type { MeasureOptions } from './measure.ts'
import type { Results } from './results.ts'

/**
 * Dials go-libp2p, rust-libp2p and the official js-libp2p from ours and the
 * other way round: a hundred times each over loopback, and a few times each over
 * a delayed link to count round trips.
 */

interface Options extends Pick<MeasureOptions, 'dials' | 'runs' | 'delay' | 'delayed'> {
  transport?: string
  sample: number
  seed: number
}

async function main (options: Options, signal: AbortSignal): Promise<void> {
  if (options.transport != null) {
    // the peers inherit it: test/fixtures/transport.ts
    process.env.TRANSPORT = options.transport
  }

  const binaries = await buildBinaries(say)
  const cells = sampleOf(allCells(), options).filter(({ dialer, listener }) => [dialer, listener].every(kind => !isNative(kind) || binaries[kind] != null))
  const results = await measure(cells, { ...options, binaries, signal, say })
  const complete = cells.length === allCells().length && results.link != null && options.transport == null
  const missed = complaints(results)

  process.stdout.write(`${tables(results)}\n`)

  if (complete) {
    await write(results, missed)
  } else {
    say('RESULTS.md stays as it was: this was not the whole matrix of tcp() without options')
  }

  missed.forEach(say)
  // a median over its limit is told, but may be the machine's doing
  process.exitCode = faults(results).length > 0 ? 1 : 0
}

/**
 * A share of the cells, and what each of them is compared with
 */
function sampleOf (cells: Cell[], { sample, seed }: Options): Cell[] {
  if (sample >= 1) {
    return cells
  }

  const chosen = shuffled(cells, seededRandom(seed)).slice(0, Math.ceil(cells.length * sample))
  say(`${chosen.length} of ${cells.length} cells, seed ${seed}`)

  return cells.filter(cell => chosen.some(one => one === cell || isBaselineOf(cell, one)))
}

async function write (results: Results, failures: string[]): Promise<void> {
  const init = {
    versions: await versions(),
    command: ['node', 'test/interop/matrix.ts', ...process.argv.slice(2)].join(' '),
    date: new Date().toISOString().slice(0, 10),
    complaints: failures
  }
  const directory = path.join(packageRoot(), 'test', 'interop')

  await writeFile(path.join(directory, 'RESULTS.md'), report({ ...init, results }))
  await writeFile(path.join(directory, 'results.json'), `${toJson({ ...init, ...results })}\n`)
}

function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

const options = new Command()
  .option('--dials <count>', 'dials per cell over loopback', wholeFrom(1), 100)
  .option('--runs <count>', 'measured dials per cell over the delayed link', wholeFrom(1), 10)
  .option('--delay <ms>', 'one-way delay of that link', numberFrom(0), 40)
  .addOption(new Option('--transport <name>', 'ours with the option reusePort, where dialers listen too, or with fastOpen').choices(['reuse-port', 'fast-open']))
  .option('--no-delayed', 'skip that link')
  .option('--sample <share>', 'of the cells, chosen by the seed; 1 for all', numberFrom(0), 1)
  .option('--seed <number>', 'makes a choice again', wholeFrom(0), Date.now() % 2 ** 31)
  .parse()
  .opts<Options>()

await endOnSignal(async signal => main(options, signal))
