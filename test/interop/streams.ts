import { Command } from 'commander'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { buildBinaries } from '../lab/peers/build.ts'
import { runSuite } from '../lab/suite.ts'
import { STREAMS } from './cells.ts'
import { Peers, possible, verdictOf } from './dial.ts'
import type { Cell } from '../lab/suite.ts'

/*
 * Opens many streams in the tick in which a dial resolves, and single streams that close their end at once, between two processes: on
 * loopback and over a delayed link. Every stream must echo what it sends, to its end. The official transport is beside ours and may fail:
 * what it loses of many streams is what ours is to mend.
 */

interface Flags {
  runs: number
  delay: number
}

/** With all of its streams, in ms */
const TIMEOUT = 30_000
const BYTES = 100

await runSuite<Flags>(new Command('suite streams')
  .option('--runs <count>', 'dials of a cell over each link', wholeFrom(1), 20)
  .option('--delay <ms>', 'one-way delay of the delayed link', numberFrom(1), 40), async ({ runs, delay }, signal) => {
  const binaries = await buildBinaries()
  const links = [new Peers(binaries, 0), new Peers(binaries, delay)]

  return {
    concurrency: 2,
    end: async () => Promise.all(links.map(async peers => peers.close())),
    cells: possible(STREAMS, binaries).map(({ dial, name }): Cell => ({
      name,
      async run () {
        const all: Array<ReturnType<typeof verdictOf>> = []

        for (const peers of links) {
          all.push(verdictOf((await peers.dial(dial, { count: runs, bytes: BYTES, timeout: TIMEOUT }, signal)).outcomes))
        }

        return {
          summary: all.map(({ summary }) => summary).join(' · '),
          complaints: dial.dialer === 'ours' || dial.listenerOptimism === 'all' ? all.flatMap(({ complaints }) => complaints) : []
        }
      }
    }))
  }
})
