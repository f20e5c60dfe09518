import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { openLink } from '../lab/link/open-link.ts'
import { seededRandom, shuffled } from '../lab/process/random.ts'
import { markdownTable } from '../lab/report/table.ts'
import { packageRoot } from '../lab/script-path.ts'
import { buildBinaries } from './binaries.ts'
import { isNative, nameOf } from './cells.ts'
import { endOnSignal } from './end-on-signal.ts'
import { successes } from './results.ts'
import { runCells } from './run-cells.ts'
import { streamCells } from './stream-cells.ts'
import { versions } from './versions.ts'
import type { CellRun } from './run-cells.ts'

/*
 * Opens many streams in the tick in which a dial resolves, and single streams
 * that close their end at once, between two processes: on loopback and over a
 * delayed link. Every stream must echo what it sends, to its end. The official
 * transport is beside ours and may fail.
 */

interface Options {
  runs: number
  delay: number
  sample: number
  seed: number
}

/** What one dial with all of its streams may take, in ms */
const DIAL_TIMEOUT = 30_000
const BYTES = 100
const DIRECTORY = path.join(packageRoot(), 'test', 'interop')

async function main ({ runs, delay, sample, seed }: Options, signal: AbortSignal): Promise<void> {
  const binaries = await buildBinaries(say)
  const all = streamCells()
  const possible = all.filter(({ listener }) => !isNative(listener) || binaries[listener] != null)
  const cells = sample < 1 ? shuffled(possible, seededRandom(seed)).slice(0, Math.ceil(possible.length * sample)) : possible
  const tables: string[] = []
  const failures: string[] = []

  say(`${cells.length} of ${all.length} cells, seed ${seed}`)

  for (const oneWay of [0, delay]) {
    const link = await openLink({ delay: oneWay })

    try {
      const results = await runCells(link, cells, {
        dials: runs,
        bytes: BYTES,
        dialTimeout: DIAL_TIMEOUT,
        cellTimeout: DIAL_TIMEOUT * runs,
        concurrency: 2,
        binaries,
        signal,
        onCell ({ cell, outcomes }, ms) {
          say(`${link.kind}: ${nameOf(cell)}: ${successes(outcomes)} of ${outcomes.length} in ${(ms / 1_000).toFixed(1)} s`)
        }
      })

      tables.push(`## ${link.title}`, tableOf(results))
      failures.push(...results.filter(isFailure).map(({ cell, outcomes }) => (
        `${link.kind}: ${nameOf(cell)}: ${outcomes.length - successes(outcomes)} of ${outcomes.length} failed: ${[...new Set(outcomes.flatMap(({ error }) => error ?? []))].join('; ')}`
      )))
    } finally {
      await link.close()
    }
  }

  process.stdout.write(`${tables.join('\n\n')}\n`)
  failures.forEach(say)
  process.exitCode = failures.length > 0 ? 1 : 0

  if (cells.length === all.length) {
    await writeFile(path.join(DIRECTORY, 'STREAMS.md'), document(tables, failures, runs, await versions()))
  }
}

/** What the official transport loses of many streams is what ours is to mend */
function isFailure ({ cell, outcomes }: CellRun): boolean {
  return successes(outcomes) < outcomes.length && (cell.dialer === 'ours' || cell.listenerOptimism === 'all')
}

function tableOf (runs: CellRun[]): string {
  const rows = new Map<string, CellRun[]>()

  for (const run of runs) {
    const { streams, ...rest } = run.cell
    const key = nameOf(rest)

    rows.set(key, [...rows.get(key) ?? [], run])
  }

  const counts = [...new Set(runs.map(({ cell }) => cell.streams ?? 1))].sort((a, b) => a - b)

  return markdownTable({
    columns: [
      { title: 'dialer -> listener', align: 'left' },
      ...counts.map(count => ({ title: count === 1 ? '1 stream' : `${count} streams` }))
    ],
    rows: [...rows].map(([name, runs]) => [name, ...counts.map(count => {
      const run = runs.find(({ cell }) => (cell.streams ?? 1) === count)

      return run == null ? '' : `${successes(run.outcomes)}/${run.outcomes.length}`
    })])
  })
}

function document (tables: string[], failures: string[], runs: number, measuredWith: object): string {
  return `${[
    '# Streams right after a dial',
    `\`npm run test:streams\`, ${new Date().toISOString().slice(0, 10)}. Written by that command.`,
    `Each cell: dials of which every stream echoed ${BYTES} bytes to its end, of ${runs}. All streams of a dial are opened in the tick in which it resolves. Dialer and listener are processes of their own. \`(all)\` is a node with both decorators, \`(transport)\` has \`tcp()\` alone, \`official\` is \`@libp2p/tcp\`.`,
    ...(failures.length === 0 ? [] : ['**Not passed:**', failures.map(line => `- ${line}`).join('\n')]),
    ...tables,
    '## Measured with',
    Object.entries(measuredWith).map(([name, entries]) => `- ${name}: ${Object.entries(entries).map(([key, value]) => `${key} ${value}`).join(', ')}`).join('\n')
  ].join('\n\n')}\n`
}

function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

const options = new Command('test:streams')
  .option('--runs <count>', 'dials per cell', wholeFrom(1), 20)
  .option('--delay <ms>', 'one-way delay of the delayed link', numberFrom(1), 40)
  .option('--sample <share>', 'of the cells, chosen by the seed; 1 for all', numberFrom(0), 1)
  .option('--seed <number>', 'makes a choice again', wholeFrom(0), Date.now() % 2 ** 31)
  .parse()
  .opts<Options>()

await endOnSignal(async signal => main(options, signal))
