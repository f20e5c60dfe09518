import { writeFile } from 'node:fs/promises'
/* eslint-disable no-console */
import { Command, Option } from 'commander'
import { listOf, localAddress, numberFrom, oneOf, wholeFrom } from '../command-line/arguments.ts'
import { commandText } from '../command-line/command-text.ts'
import { outOption, seedOption } from '../command-line/options.ts'
import { LINK_KINDS } from '../link/open-link.ts'
import { rivalNamed, rivals } from '../rivals/registry.ts'
import { defaultRivals } from './default-rivals.ts'
import { prepare } from './prepare.ts'
import { connectOver, connectTo } from './run.ts'
import type { LinkRuns } from './run.ts'
import type { LinkKind } from '../link/link.ts'

interface ConnectFlags {
  quick?: boolean
  runs?: number
  delay: number
  link?: LinkKind
  rivals?: string[]
  seed: number
  out: string
  json?: string
  listen?: string
  dial?: string
}

const RUNS = 10
const QUICK_RUNS = 5
const WARM_UPS = 2

export const connectCommand = new Command('connect')
  .description('from a dial to the first byte that is echoed, step by step, over loopback and a delayed link (the default)')
  .option('--quick', 'fewer runs, in under a minute')
  .option('--runs <n>', `dials of each stack over each link (default: ${RUNS}, quick: ${QUICK_RUNS})`, wholeFrom(1))
  .option('--delay <ms>', 'one-way delay of the link; 0 for loopback alone', numberFrom(0), 40)
  .addOption(new Option('--link <kind>', 'how the delay is made (default: the best that works here)').choices(LINK_KINDS.filter(kind => kind !== 'loopback')))
  .option('--rivals <list>', `the stacks to time: ${rivals.map(({ name }) => name).join()} (default: all but ${rivals.filter(({ onlyIfNamed }) => onlyIfNamed).map(({ name }) => name).join(' and ')}, whose first build takes minutes)`, listOf(oneOf(rivals.map(({ name }) => name))))
  .addOption(seedOption())
  .addOption(outOption())
  .option('--json <file>', 'where to write every sample as well')
  .addOption(new Option('--listen [host]', 'print the multiaddr of a node and wait to be dialled').argParser(localAddress).conflicts('dial').preset('0.0.0.0'))
  .option('--dial <multiaddr>', 'time dials to such a node on another machine')
  .action(async (flags: ConnectFlags, command: Command) => {
    if (flags.listen != null) {
      const { listen } = await import('./listen.ts')

      return listen(flags.listen)
    }

    await connect(flags, commandText(command))
  })

async function connect ({ rivals: names, runs, quick, seed, delay, link, dial, out, json }: ConnectFlags, command: string): Promise<void> {
  const { prepared, skipped } = await prepare(names?.map(rivalNamed) ?? defaultRivals({ isRemote: dial != null }))
  const options = {
    rivals: prepared,
    runs: runs ?? (quick === true ? QUICK_RUNS : RUNS),
    warmUps: WARM_UPS,
    seed
  }
  const links: LinkRuns[] = []

  if (dial != null) {
    links.push(await connectTo(dial, options))
  } else {
    links.push(await connectOver({ delay: 0 }, 'loopback', options))

    if (delay > 0) {
      links.push(await connectOver({ delay }, link, options))
    }
  }

  // what draws charts is slow to load
  const [{ connectReport }, { connectResults }, { failuresOf }, { connectText }, { writeResults }] = await Promise.all([
    import('./report.ts'),
    import('./results.ts'),
    import('./tables.ts'),
    import('./text.ts'),
    import('../report/write-results.ts')
  ])
  const report = connectReport(links, { ...options, command }, skipped)
  const files = await writeResults(connectResults(report), out)

  if (json != null) {
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`)
    files.push(json)
  }

  if (links.some(link => failuresOf(link).length > 0)) {
    process.exitCode = 1
  }

  console.log(`\n${connectText(report)}\n\n${report.cpu}, ${report.cores} cores, ${report.kernel}, Node ${report.node}, seed ${seed}\nWritten: ${files.join(', ')}`)
}
