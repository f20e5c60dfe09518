/* eslint-disable no-console */
import { writeFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { localAddress, numberFrom, wholeFrom } from '../../test/lab/arguments.ts'
import { LINK_KINDS } from '../../test/lab/link/open-link.ts'
import { openPeer, selectContenders } from '../../test/lab/peers/registry.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { commandText, outOption, rivalsOption, seedOption } from '../command-line/options.ts'
import { showResults } from '../report/results.ts'
import { echo } from './first-byte.ts'
import { connectResults } from './page.ts'
import { connectOver, connectReport, connectTo } from './run.ts'
import { failuresOf } from './tables.ts'
import type { LinkRuns, Skipped } from './report.ts'
import type { LinkKind } from '../../test/lab/link/link.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'

interface ConnectFlags {
  quick?: boolean
  runs?: number
  delay: number
  link?: LinkKind
  rivals?: string[]
  seed: number
  out?: string
  json?: string
  listen?: string
  dial?: string
}

const RUNS = 10
const QUICK_RUNS = 5
const WARM_UPS = 2

/** A listener of ours on another machine answers nobody else */
const REMOTE_RIVALS = ['official', 'recipe', 'transport', 'ours']

export const connectCommand = new Command('connect')
  .description('from a dial to the first byte that is echoed, step by step, over loopback and a delayed link (the default)')
  .option('--quick', 'fewer runs, in under a minute')
  .option('--runs <n>', `dials of each stack over each link (default: ${RUNS}, quick: ${QUICK_RUNS})`, wholeFrom(1))
  .option('--delay <ms>', 'one-way delay of the link; 0 for loopback alone', numberFrom(0), 40)
  .addOption(new Option('--link <kind>', 'how the delay is made (default: the best that works here)').choices(LINK_KINDS.filter(kind => kind !== 'loopback')))
  .addOption(rivalsOption('connect', ', whose first build takes minutes'))
  .addOption(seedOption())
  .addOption(outOption())
  .option('--json <file>', 'where to write every sample as well')
  .addOption(new Option('--listen [host]', 'print the multiaddr of a node and wait to be dialed').argParser(localAddress).conflicts('dial').preset('0.0.0.0'))
  .option('--dial <multiaddr>', 'time dials to such a node on another machine')
  .action(async (flags: ConnectFlags, command: Command) => {
    await (flags.listen == null ? connect(flags, commandText(command)) : listen(flags.listen))
  })

async function connect ({ rivals, runs, quick, seed, delay, link, dial, out, json }: ConnectFlags, command: string): Promise<void> {
  const { prepared: contenders, skipped } = await prepare(selectContenders('connect', { rivals: rivals ?? (dial == null ? undefined : REMOTE_RIVALS) }))
  const options = { contenders, runs: runs ?? (quick === true ? QUICK_RUNS : RUNS), warmUps: WARM_UPS, seed }
  const links: LinkRuns[] = []

  if (dial != null) {
    links.push(await connectTo(dial, options))
  } else {
    links.push(await connectOver({ delay: 0 }, 'loopback', options))

    if (delay > 0) {
      links.push(await connectOver({ delay }, link, options))
    }
  }

  const report = connectReport(links, { ...options, command }, skipped)
  await showResults(connectResults(report), out)

  if (json != null) {
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`)
  }

  if (links.some(link => failuresOf(link).length > 0)) {
    process.exitCode = 1
  }
}

/** Installs what is not there yet. A contender for which that fails is left out. */
async function prepare (contenders: Contender[]): Promise<{ prepared: Contender[], skipped: Skipped[] }> {
  const prepared: Contender[] = []
  const skipped: Skipped[] = []

  for (const contender of contenders) {
    try {
      await contender.prepare?.(message => { console.error(message) })
      prepared.push(contender)
    } catch (err: any) {
      skipped.push({ rival: contender.name, reason: err.shortMessage ?? err.message })
    }
  }

  return { prepared, skipped }
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
