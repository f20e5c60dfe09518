/* eslint-disable no-console */
import { Command, Option } from 'commander'
import { localAddress, numberFrom, wholeFrom } from '../../test/lab/arguments.ts'
import { LINK_KINDS } from '../../test/lab/link/open-link.ts'
import { openPeer } from '../../test/lab/peers/registry.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { outOption, prepareRivals, rivalsOption, seedOption } from '../command-line/options.ts'
import { reportOf } from '../report/report.ts'
import { showResults } from '../report/results.ts'
import { echo } from './first-byte.ts'
import { connectOver, connectTo } from './measure.ts'
import { connectPage } from './page.ts'
import type { LinkKind } from '../../test/lab/link/link.ts'

interface ConnectFlags {
  quick?: boolean
  runs?: number
  delay: number
  link?: LinkKind
  rivals?: string[]
  seed: number
  out?: string
  listen?: string
  dial?: string
}

const RUNS = 10
const QUICK_RUNS = 5

/** A listener of ours on another machine answers nobody else */
const REMOTE_RIVALS = ['official', 'recipe', 'transport', 'ours']

export const connectCommand = new Command('connect')
  .description('from a dial to the first byte that is echoed, step by step, over loopback and a delayed link (the default)')
  .option('--quick', 'fewer runs, in under a minute')
  .option('--runs <n>', `dials of each stack over each link (default: ${RUNS}, quick: ${QUICK_RUNS})`, wholeFrom(1))
  .option('--delay <ms>', 'one-way delay of the link; 0 for loopback alone', numberFrom(0), 40)
  .addOption(new Option('--link <kind>', 'how the delay is made (default: the best that works here)').choices(LINK_KINDS.filter(kind => kind !== 'loopback')))
  .addOption(rivalsOption('connect'))
  .addOption(seedOption())
  .addOption(outOption())
  .addOption(new Option('--listen [host]', 'print the multiaddr of a node and wait to be dialed').argParser(localAddress).conflicts('dial').preset('0.0.0.0'))
  .option('--dial <multiaddr>', 'time dials to such a node on another machine')
  .action(async (flags: ConnectFlags, command: Command) => {
    await (flags.listen == null ? connect(flags, command) : listen(flags.listen))
  })

async function connect ({ rivals, runs, quick, seed, delay, link, dial, out }: ConnectFlags, command: Command): Promise<void> {
  const { contenders, notes } = await prepareRivals('connect', { rivals: rivals ?? (dial == null ? undefined : REMOTE_RIVALS) })
  const turns = { rounds: runs ?? (quick === true ? QUICK_RUNS : RUNS), seed }
  const outcomes = dial != null
    ? [await connectTo(dial, contenders, turns)]
    : [
        await connectOver({ delay: 0 }, 'loopback', contenders, turns),
        ...delay > 0 ? [await connectOver({ delay }, link, contenders, turns)] : []
      ]
  const failures = outcomes.flatMap(({ failures }) => failures)
  const report = reportOf('connect', command, { seed, contenders, notes: [...notes, ...failures], series: outcomes.flatMap(({ series }) => series) })

  await showResults(connectPage({ ...report, links: outcomes.map(({ link }) => link) }), out)

  if (failures.length > 0) {
    process.exitCode = 1
  }
}

/**
 * Runs a listener of ours until a signal ends it, for `--dial` on another
 * machine.
 */
async function listen (host: string): Promise<never> {
  const peer = await openPeer('stream', 'ours')

  return withCleanUp(async () => peer.close(), async () => {
    const multiaddrs = await peer.listen([host], echo)

    console.log(`Listening. From another machine:\n\n${multiaddrs.map(multiaddr => `  npm run benchmark -- --dial ${multiaddr}`).join('\n')}\n\nCtrl-C ends it.`)

    return new Promise<never>(() => {})
  })
}
