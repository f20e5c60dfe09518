import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { environment } from '../lab/report/environment.ts'
import { bullets, page, section } from '../lab/report/page.ts'
import { choose, withChoice } from '../lab/suite/choose.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { buildBinaries } from './binaries.ts'
import { isNative, nameOf } from './cells.ts'
import { dialCells, overLink } from './dial-cells.ts'
import { faultsOf } from './limits.ts'
import { streamCells } from './stream-cells.ts'
import { versions } from './versions.ts'
import type { CellRun } from './dial-cells.ts'
import type { Table } from '../lab/report/table.ts'
import type { Choice } from '../lab/suite/choose.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

/*
 * Opens many streams in the tick in which a dial resolves, and single streams
 * that close their end at once, between two processes: on loopback and over a
 * delayed link. Every stream must echo what it sends, to its end. The official
 * transport is beside ours and may fail.
 */

interface Flags extends Choice {
  runs: number
  delay: number
}

/** What one dial with all of its streams may take, in ms */
const DIAL_TIMEOUT = 30_000
const BYTES = 100

async function main (flags: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  const { runs, delay } = flags
  const binaries = await buildBinaries()
  const cells = choose(streamCells(), nameOf, flags).filter(({ listener }) => !isNative(listener) || binaries[listener] != null)
  const sections: string[] = []
  const failures: string[] = []

  for (const oneWay of [0, delay]) {
    await overLink(oneWay, async link => {
      const results = await dialCells(link, cells, {
        dials: runs,
        bytes: BYTES,
        dialTimeout: DIAL_TIMEOUT,
        cellTimeout: DIAL_TIMEOUT * runs,
        concurrency: 2,
        binaries,
        signal,
        again,
        complaints
      })

      sections.push(section(link.title, '', tableOf(results)))
      failures.push(...results.flatMap(run => complaints(run).map(complaint => `${link.kind}: ${nameOf(run.cell)}: ${complaint}`)))
    })
  }

  const text = page({
    title: 'Streams right after a dial',
    about: 'Written by `npm run test:streams`; do not edit.',
    environment: environment(command),
    versions: await versions(),
    parts: [
      `Each cell: dials of which every stream echoed ${BYTES} bytes to its end, of ${runs}. All streams of a dial are opened in the tick in which it resolves. Dialer and listener are processes of their own. \`(all)\` is a node with both decorators, \`(transport)\` has \`tcp()\` alone, \`official\` is \`@libp2p/tcp\`.`,
      bullets('**Not passed:**', failures),
      ...sections
    ]
  })

  if (cells.length === streamCells().length) {
    await writeFile(path.join(import.meta.dirname, 'STREAMS.md'), text)
  } else {
    process.stdout.write(text)
  }

  return failures
}

/** What the official transport loses of many streams is what ours is to mend */
function complaints ({ cell, dials }: CellRun): string[] {
  return cell.dialer === 'ours' || cell.listenerOptimism === 'all' ? faultsOf(cell, dials) : []
}

function tableOf (runs: CellRun[]): Table {
  const rows = new Map<string, CellRun[]>()

  for (const run of runs) {
    const { streams, ...rest } = run.cell
    const key = nameOf(rest)

    rows.set(key, [...rows.get(key) ?? [], run])
  }

  const counts = [...new Set(runs.map(({ cell }) => cell.streams ?? 1))].sort((a, b) => a - b)

  return {
    columns: [
      { title: 'dialer -> listener', align: 'left' },
      ...counts.map(count => ({ title: count === 1 ? '1 stream' : `${count} streams` }))
    ],
    rows: [...rows].map(([name, runs]) => [name, ...counts.map(count => {
      const run = runs.find(({ cell }) => (cell.streams ?? 1) === count)

      return run == null ? '' : `${run.dials.successes}/${run.dials.dials}`
    })])
  }
}

await runSuite(withChoice(new Command('test:streams'))
  .option('--runs <count>', 'dials per cell', wholeFrom(1), 20)
  .option('--delay <ms>', 'one-way delay of the delayed link', numberFrom(1), 40), main)
