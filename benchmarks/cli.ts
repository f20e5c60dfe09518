/* eslint-disable no-console */

import path from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { listen } from './connect/listen.ts'
import { connectReport } from './connect/report.ts'
import { connectOver, connectTo } from './connect/run.ts'
import { connectText } from './connect/text.ts'
import { LINK_KINDS } from './link/open-link.ts'
import { writeJson } from './report/json.ts'
import { rivalNamed, rivals } from './rivals/registry.ts'
import { packageRoot } from './script-path.ts'
import type { Skipped } from './connect/report.ts'
import type { LinkRuns } from './connect/run.ts'
import type { LinkKind } from './link/link.ts'
import type { Rival } from './rivals/rival.ts'

interface ConnectFlags {
  runs?: number
  delay: number
  json: string
  quick?: boolean
  link?: LinkKind
  rivals?: Rival[]
  seed: number
  listen?: string | true
  dial?: string
}

const RUNS = 10
const QUICK_RUNS = 5
const WARM_UPS = 2

/**
 * A listener of ours on another machine answers nobody else
 */
const REMOTE_RIVALS = ['official', 'recipe', 'transport', 'ours']

async function connect (flags: ConnectFlags): Promise<void> {
  if (flags.listen != null) {
    await listen(flags.listen === true ? '0.0.0.0' : flags.listen)
    return
  }

  const chosen = flags.rivals ?? rivals.filter(({ name }) => flags.dial == null || REMOTE_RIVALS.includes(name))
  const { prepared, skipped } = await prepare(chosen)
  const options = {
    rivals: prepared,
    runs: flags.runs ?? (flags.quick === true ? QUICK_RUNS : RUNS),
    warmUps: WARM_UPS,
    seed: flags.seed
  }
  const links: LinkRuns[] = []

  if (flags.dial != null) {
    links.push(await connectTo(flags.dial, options))
  } else {
    links.push(await connectOver({ delay: 0 }, 'loopback', options))

    if (flags.delay > 0) {
      links.push(await connectOver({ delay: flags.delay }, flags.link, options))
    }
  }

  const report = connectReport(links, options, skipped)
  await writeJson(flags.json, report)

  console.log(`\n${connectText(report)}\n\n${report.cpu}, ${report.cores} cores, ${report.kernel}, Node ${report.node}, seed ${report.seed}`)
  console.log(`Every sample: ${path.relative(process.cwd(), flags.json)}`)
}

async function prepare (chosen: Rival[]): Promise<{ prepared: Rival[], skipped: Skipped[] }> {
  const prepared: Rival[] = []
  const skipped: Skipped[] = []

  for (const rival of chosen) {
    try {
      await rival.prepare?.(message => { console.error(message) })
      prepared.push(rival)
    } catch (err: any) {
      skipped.push({ rival: rival.name, reason: err.shortMessage ?? err.message })
    }
  }

  return { prepared, skipped }
}

function atLeast (least: number): (value: string) => number {
  return value => {
    const number = Number(value)

    if (value.trim() === '' || !Number.isFinite(number) || number < least) {
      throw new InvalidArgumentError(`It must be a number from ${least} on.`)
    }

    return number
  }
}

function wholeFrom (least: number): (value: string) => number {
  return value => {
    const number = atLeast(least)(value)

    if (!Number.isSafeInteger(number)) {
      throw new InvalidArgumentError('It must be a whole number.')
    }

    return number
  }
}

function rivalList (value: string): Rival[] {
  try {
    return value.split(',').map(rivalNamed)
  } catch (err: any) {
    throw new InvalidArgumentError(err.message)
  }
}

const program = new Command('npm run benchmark --')
  .description('Times libp2p connections over TCP, this transport beside others.')

const connectCommand = program.command('connect', { isDefault: true })
  .description('from a dial to the first byte that is echoed, step by step, over loopback and a delayed link (the default)')
  .option('--runs <n>', `dials of each stack over each link (default: ${RUNS}, quick: ${QUICK_RUNS})`, wholeFrom(1))
  .option('--delay <ms>', 'one-way delay of the link; 0 for loopback alone', atLeast(0), 40)
  .option('--json <file>', 'where every sample goes', path.join(packageRoot(), 'benchmarks', 'results', 'local', 'connect.json'))
  .option('--quick', 'fewer runs, in under a minute')
  .addOption(new Option('--link <kind>', 'how the delay is made (default: the best that works here)').choices(LINK_KINDS.filter(kind => kind !== 'loopback')))
  .option('--rivals <list>', `the stacks to time, with commas: ${rivals.map(({ name }) => name).join(', ')} (default: all)`, rivalList)
  .addOption(new Option('--seed <n>', 'for the order of the runs').argParser(wholeFrom(0)).default(Math.floor(Math.random() * 1e6), 'a new one each time'))
  .addOption(new Option('--listen [host]', 'print the multiaddr of a node and wait to be dialled').conflicts('dial'))
  .option('--dial <multiaddr>', 'time dials to such a node on another machine')
  .action(connect)

// --help goes to the program: show what its default takes as well
program.addHelpText('after', () => `\n${connectCommand.helpInformation()}`)

await program.parseAsync().catch((err: Error) => {
  console.error(err.message)
  process.exitCode = 1
})
