/*
 * Runs programs of other people on our transport and on `@libp2p/tcp`, each in a process of its own. A program has to deliver the same with
 * ours, with no warning of Node, no unhandled rejection, and no handle left behind.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf, wholeFrom } from '../lab/arguments.ts'
import { say } from '../lab/process/say.ts'
import { ms, times } from '../lab/report/numbers.ts'
import { median } from '../lab/statistics.ts'
import { runSuite } from '../lab/suite.ts'
import { install } from './install.ts'
import type { Cell, Verdict } from '../lab/suite.ts'

const HERE = import.meta.dirname
const ROOT = path.resolve(HERE, '../..')
const TIMEOUT = 600_000

/** Official first: the others are compared with it. `mixed` has nodes of official and decorated ones beside each other */
const MODES = ['official', 'plain', 'decorated', 'mixed']

interface Program {
  /** Public addresses, which no machine has: it runs in a network namespace with them */
  addresses?: string[]

  /** It makes addresses silent, for which it needs nft and a network namespace */
  drops?: true

  /** Facts of which a transport may deliver more than official does */
  gains?: string[]
}

const PUBLIC = ['8.0.0.1', '8.1.0.1', '8.2.0.1', '8.3.0.1', '8.4.0.1']

const PROGRAMS: Record<string, Program> = {
  fetch: {},
  autonat: { addresses: PUBLIC },
  // AutoNAT 1 verifies nothing, with official too
  'autonat-v1': { addresses: PUBLIC },
  pnet: {},
  // its dials fail, with official too
  'simple-metrics': {},
  requests: {},
  'kad-dht': {},
  'kad-dht-gone': { addresses: PUBLIC, drops: true, gains: ['peers', 'providers', 'values'] },
  gossipsub: {},
  'gossip-burst': {},
  transports: {},
  relay: {},
  helia: {}
}

interface Flags {
  modes: string[]
  runs: number
  short: boolean
}

interface Outcome {
  /** What was delivered */
  facts: Record<string, string | number>

  /** Failures, warnings, rejections, handles left behind */
  complaints: string[]

  /** ms on the clock, and of the processor */
  wall: number
  cpu: number
}

await runSuite<Flags>(new Command('suite ecosystem')
  .option('--modes <modes>', MODES.join(), listOf(oneOf(MODES)), MODES)
  .option('--runs <number>', 'of each program in each mode', wholeFrom(1), 5)
  .option('--short', 'a tenth of the work', false), async ({ modes, runs, short }, signal) => {
  await install()
  await execa('tsc', ['-p', 'test/ecosystem'], { cwd: ROOT, preferLocal: true, stdout: 'inherit', cancelSignal: signal })

  const [hasAddresses, canDrop] = await Promise.all([succeeds([...withAddresses(['8.0.0.1']), 'true']), succeeds([...withAddresses([]), 'nft', 'add table inet gone'])])
  const cells: Cell[] = []

  for (const [name, program] of Object.entries(PROGRAMS)) {
    if ((program.addresses != null && !hasAddresses) || (program.drops === true && !canDrop)) {
      say(`SKIPPED ${name}: it needs a network namespace, which is made on Linux as root${program.drops === true ? ', and nft' : ''}`)
    } else {
      cells.push({ name, run: async () => judge(name, modes, runs, short, signal) })
    }
  }

  return { cells }
})

/** Another mode goes first in each round */
async function judge (name: string, modes: string[], runs: number, short: boolean, signal: AbortSignal): Promise<Verdict> {
  const rounds: Array<Record<string, Outcome>> = []

  for (let run = 0; run < runs; run++) {
    const round: Record<string, Outcome> = {}

    for (const mode of modes.map((_, i) => modes[(i + run) % modes.length])) {
      round[mode] = await runProgram(name, mode, short, signal)
    }

    rounds.push(round)
  }

  const official = rounds.flatMap(({ official }) => official?.complaints.length === 0 ? [official] : [])

  return {
    summary: modes.map(mode => {
      const [wall, cpu] = (['wall', 'cpu'] as const).map(key => median(rounds.map(round => round[mode][key] / (mode === 'official' ? 1 : round.official?.[key] ?? NaN))))

      return mode === 'official' ? `official ${ms(wall)} ms` : `${mode} ${times(wall)}, processor ${times(cpu)}`
    }).join('; '),
    complaints: [...new Set(modes.filter(mode => mode !== 'official').flatMap(mode => rounds.flatMap(round => [
      ...round[mode].complaints,
      ...official.length === 0 ? [] : differences(round[mode], official[0], PROGRAMS[name].gains)
    ].map(complaint => `${mode}: ${complaint}`))))],
    raw: rounds
  }
}

function differences ({ facts, complaints }: Outcome, official: Outcome, gains: string[] = []): string[] {
  return complaints.length > 0
    ? []
    : [...new Set([...Object.keys(facts), ...Object.keys(official.facts)])]
        .filter(key => gains.includes(key) ? !(facts[key] >= official.facts[key]) : facts[key] !== official.facts[key])
        .map(key => `${key} is ${facts[key]}, and ${official.facts[key]} with official`)
}

async function runProgram (name: string, mode: string, short: boolean, signal: AbortSignal): Promise<Outcome> {
  const { addresses } = PROGRAMS[name]
  const [file, ...args] = [...addresses == null ? [] : withAddresses(addresses), process.execPath, path.join(HERE, 'programs/main.ts'), name, mode, short ? 'short' : 'whole']
  const { stdout, stderr, shortMessage } = await execa(file, args, { env: { NODE_OPTIONS: '', DEBUG: '' }, stdin: 'ignore', timeout: TIMEOUT, cancelSignal: signal, killSignal: 'SIGKILL', reject: false })

  try {
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  } catch {
    return { facts: {}, complaints: [`ended without a result: ${shortMessage ?? ''} ${stderr.slice(-2_000)}`], wall: NaN, cpu: NaN }
  }
}

function withAddresses (addresses: string[]): string[] {
  const script = `ip link set lo up && for a in ${addresses.join(' ')}; do ip addr add $a/32 dev lo || exit 1; done && exec "$@"`

  return ['unshare', ...process.getuid?.() === 0 ? [] : ['--map-root-user'], '--net', 'sh', '-c', script, 'sh']
}

async function succeeds ([file, ...args]: string[]): Promise<boolean> {
  return !(await execa(file, args, { reject: false })).failed
}
