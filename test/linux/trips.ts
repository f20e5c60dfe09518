/* eslint-disable no-console */
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { execa } from 'execa'
import { startListener } from '../interop/peer-process.ts'
import { openLink } from '../lab/link/open-link.ts'
import { binaryOf, buildPeer } from '../lab/peers/build.ts'
import { withCleanUp } from '../lab/process/interrupt.ts'
import { median } from '../lab/statistics.ts'
import type { DialTime, PeerOptions } from './peer.ts'
import type { Link } from '../lab/link/link.ts'

/*
 * Counts the round trips of dials with TCP Fast Open over a delayed link between two
 * network namespaces, side by side with those without it, and fails where they are
 * more than they should be.
 */

interface Row {
  listener: PeerOptions['stack'] | 'go' | 'rust'

  /** `net.ipv4.tcp_fastopen` of the listener's namespace */
  sysctl: number
  dialer: PeerOptions['stack']
  security: PeerOptions['security']
  goal?: PeerOptions['goal']

  /** The median of the dials after the first, in round trips */
  atMost?: number

  /** ... against that of raw TCP in the same run */
  atMostOfRaw?: number

  /** Against the row of the same listener without Fast Open: it may not take longer, but for what the machine does */
  asWithout?: true
}

interface Measured extends Row {
  first: number
  median: number
  outcomes: Record<string, number>
}

/** A dial without Fast Open of the same kind may take so many round trips less, by chance */
const CHANCE = 0.15

const rows: Row[] = [
  { listener: 'raw', sysctl: 3, dialer: 'raw', security: 'noise' },
  { listener: 'official', sysctl: 3, dialer: 'official', security: 'noise' },
  { listener: 'fast-open', sysctl: 3, dialer: 'transport', security: 'noise' },
  { listener: 'fast-open', sysctl: 3, dialer: 'ours', security: 'noise' },
  { listener: 'fast-open', sysctl: 3, dialer: 'fast-open', security: 'noise', atMost: 2.3, atMostOfRaw: 1.1 },
  { listener: 'fast-open', sysctl: 3, dialer: 'ours', security: 'tls' },
  { listener: 'fast-open', sysctl: 3, dialer: 'fast-open', security: 'tls' },
  { listener: 'fast-open', sysctl: 3, dialer: 'ours', security: 'tls-x25519' },
  { listener: 'fast-open', sysctl: 3, dialer: 'fast-open', security: 'tls-x25519', atMost: 2.3 },

  // listeners that take no data in a SYN
  ...(['official', 'go', 'rust'] as const).flatMap((listener): Row[] => [
    { listener, sysctl: 3, dialer: 'ours', security: 'noise' },
    { listener, sysctl: 3, dialer: 'fast-open', security: 'noise', asWithout: true }
  ]),
  { listener: 'fast-open', sysctl: 1, dialer: 'ours', security: 'noise' },
  { listener: 'fast-open', sysctl: 1, dialer: 'fast-open', security: 'noise', asWithout: true },

  // hosts where every listener takes it
  ...(['official', 'go', 'rust'] as const).flatMap((listener): Row[] => [
    { listener, sysctl: 1027, dialer: 'fast-open', security: 'noise', atMost: 2.3 },
    { listener, sysctl: 1027, dialer: 'fast-open', security: 'tls-x25519', atMost: 2.3 }
  ]),

  { listener: 'official', sysctl: 3, dialer: 'official', security: 'noise', goal: 'identify' },
  { listener: 'fast-open', sysctl: 3, dialer: 'transport', security: 'noise', goal: 'identify' },
  { listener: 'fast-open', sysctl: 3, dialer: 'ours', security: 'noise', goal: 'identify' },
  { listener: 'fast-open', sysctl: 3, dialer: 'fast-open', security: 'noise', goal: 'identify', atMost: 2.4 }
]

const PEER = fileURLToPath(new URL('./peer.ts', import.meta.url))

await new Command('test:fast-open')
  .option('--runs <n>', 'dials after the first', Number, 20)
  .option('--delay <ms>', 'one way', Number, 40)
  .option('--only <text>', 'rows that have it')
  .action(main)
  .parseAsync()

async function main ({ runs, delay, only }: { runs: number, delay: number, only?: string }): Promise<void> {
  const link = await openLink({ delay })

  await withCleanUp(async () => link.close(), async () => {
    if (!['netem', 'relay'].includes(link.kind)) {
      throw new Error('This needs two network namespaces, and so root')
    }

    console.log(`${link.title}: round trip ${link.roundTrip.toFixed(1)} ms, ${runs} dials after the first`)
    console.log('| listener | its tcp_fastopen | dialer | encrypter | until | first | median | round trips | data in the SYN | limit |\n|---|---:|---|---|---|---:|---:|---:|---|---|')

    const done: Measured[] = []

    for (const row of rows.filter(row => nameOf(row).includes(only ?? ''))) {
      const measured = await measure(link, row, runs)
      const excess = excessOf(measured, done, link.roundTrip)

      done.push(measured)
      console.log(`| ${[
        row.listener, row.sysctl, row.dialer, row.security, row.goal ?? 'first byte', measured.first.toFixed(), measured.median.toFixed(),
        (measured.median / link.roundTrip).toFixed(2), Object.entries(measured.outcomes).map(([name, count]) => `${count} ${name}`).join(), excess ?? 'kept'
      ].join(' | ')} |`)

      if (excess != null) {
        process.exitCode = 1
      }
    }
  })
}

function nameOf ({ listener, sysctl, dialer, security, goal = 'first-byte' }: Row): string {
  return `${dialer} to ${listener} (${sysctl}), ${security}, ${goal}`
}

async function measure (link: Link, row: Row, runs: number): Promise<Measured> {
  const controller = new AbortController()

  await at(link, 'listener', ['sysctl', '-qw', `net.ipv4.tcp_fastopen=${row.sysctl}`])
  // the dialer forgets the cookies that it has
  await at(link, 'dialer', ['ip', 'tcp_metrics', 'flush'])

  const listener = await startListener(link.commandAt('listener', await listenCommand(link, row)), controller.signal)

  try {
    const command = link.commandAt('dialer', [
      ...node(), PEER, '--stack', row.dialer, '--security', row.security, '--goal', row.goal ?? 'first-byte', 'dial', listener.multiaddr, `${runs + 2}`
    ])
    const { stdout } = await execa(command[0], command.slice(1), { timeout: 120_000 })
    // the first dial of all compiles what it runs, and fetches the cookie
    const [first, , ...times] = stdout.split('\n').map((line): DialTime => JSON.parse(line))
    const outcomes: Record<string, number> = {}

    for (const { outcome } of times) {
      if (outcome != null && outcome !== '') {
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }
    }

    return { ...row, first: first.ms, median: median(times.map(({ ms }) => ms)), outcomes }
  } finally {
    await listener.close()
    controller.abort()
  }
}

async function listenCommand (link: Link, { listener, security }: Row): Promise<string[]> {
  if (listener === 'go' || listener === 'rust') {
    await buildPeer(listener, () => { console.error(`building the ${listener} peer on first use, which may take minutes`) })

    return [binaryOf(listener), 'listen', '--host', link.listenHost, '--security', security === 'noise' ? 'noise' : 'tls']
  }

  return [...node(), PEER, '--stack', listener, '--security', security, 'listen', link.listenHost]
}

function node (): string[] {
  return [process.execPath, '--no-warnings']
}

async function at (link: Link, end: 'listener' | 'dialer', command: string[]): Promise<void> {
  const [file, ...args] = link.commandAt(end, command)

  await execa(file, args)
}

function excessOf (measured: Measured, done: Measured[], roundTrip: number): string | undefined {
  const trips = measured.median / roundTrip
  const raw = done.find(({ dialer }) => dialer === 'raw')
  const without = done.find(({ dialer, listener, sysctl, security, goal }) => (
    dialer === 'ours' && listener === measured.listener && sysctl === measured.sysctl && security === measured.security && goal === measured.goal
  ))

  if (measured.atMost != null && trips > measured.atMost) {
    return `EXCEEDED ${measured.atMost}`
  }

  if (measured.atMostOfRaw != null && raw != null && measured.median > measured.atMostOfRaw * raw.median) {
    return `EXCEEDED ${measured.atMostOfRaw} of raw TCP`
  }

  if (measured.asWithout === true && without != null && trips > without.median / roundTrip + CHANCE) {
    return `EXCEEDED ${(without.median / roundTrip).toFixed(2)} without Fast Open`
  }
}
