import { Command } from 'commander'
import { listOf, oneOf, wholeFrom } from '../lab/arguments.ts'
import { buildBinaries } from '../lab/peers/build.ts'
import { scriptPath } from '../lab/script-path.ts'
import { median } from '../lab/statistics.ts'
import { runSuite } from '../lab/suite.ts'
import { AT_ONCE_CASES, runAtOnce } from './at-once.ts'
import { AUTONAT_CASES, runAutonat } from './autonat.ts'
import { GROUPS, isJs, nameOf } from './cells.ts'
import { KeptLab, openLab } from './lab/lab.ts'
import { punch } from './punch.ts'
import type { Group, PunchCell, PunchPeer } from './cells.ts'
import type { PunchCommands, PunchOutcome } from './punch.ts'
import type { Binaries } from '../lab/peers/build.ts'
import type { Cell, Verdict } from '../lab/suite.ts'

/*
 * Punches holes through NATs in network namespaces, between js, go and rust.
 */

type Part = Group | 'at-once' | 'autonat'

interface Flags {
  groups: Part[]
  runs: number
}

const PARTS: Part[] = [...Object.keys(GROUPS) as Group[], 'at-once', 'autonat']

/** How long to wait for a direct connection, in ms: three attempts of js take 15 s, of go 30 s */
const PATIENCE = 20_000

/** Where there is to be none: as long as the three attempts take */
const PATIENCE_IN_VAIN = 17_000

await runSuite<Flags>(new Command('suite nat')
  .option('--groups <names>', PARTS.join(), listOf(oneOf(PARTS)), PARTS)
  .option('--runs <count>', 'at most so many a cell', wholeFrom(1), Infinity), async ({ groups, runs }, signal) => {
  const missing = await openLab({ nats: { a: 'masquerade', b: 'masquerade' }, delay: 1 }).then(async lab => lab.close(), err => `no NAT can be made on this machine: ${err.message}`)

  if (missing != null) {
    return { cells: [], missing, isRequired: process.env.CI != null && process.getuid?.() === 0 }
  }

  const binaries = await buildBinaries('nat')
  const networks = new KeptLab()
  const isHere = ({ a, b, relay }: PunchCell): boolean => [a, b, relay].every(peer => peer === 'js' || isJs(peer) || binaries[peer] != null)

  return {
    end: async () => networks.close(),
    cells: groups.flatMap((part): Cell[] => {
      switch (part) {
        case 'at-once': return AT_ONCE_CASES.map(one => ({
          name: `dials at once: ${one.security}, ${one.delay} ms`,
          sampled: 'always',
          run: async () => runAtOnce({ ...one, dials: Math.min(runs, one.dials) }, signal)
        }))
        case 'autonat': return AUTONAT_CASES.map(one => ({ name: `AutoNAT: ${one.name}`, sampled: 'always', run: async () => runAutonat(one, signal) }))
        default: return GROUPS[part].filter(isHere).map(cell => ({ name: nameOf(cell), run: async () => runCell({ ...cell, runs: Math.min(runs, cell.runs) }, networks, binaries, signal) }))
      }
    })
  }
})

/** As often as the cell says, one run after the other: times are measured */
async function runCell (cell: PunchCell, networks: KeptLab, binaries: Binaries, signal: AbortSignal): Promise<Verdict> {
  // two cables are between the two sides
  const lab = await networks.open({ nats: cell.nats, delay: cell.delay / 2 })
  const outcomes: PunchOutcome[] = []

  while (outcomes.length < cell.runs && !signal.aborted) {
    outcomes.push(await punch(lab, commandsOf(cell, binaries), cell.expected === 'none' ? PATIENCE_IN_VAIN : PATIENCE, signal))
  }

  const times = outcomes.flatMap(({ ok, ms }) => ok && ms != null ? [ms] : [])
  const left = outcomes.flatMap(({ left = [] }) => left)

  return {
    summary: [
      `${outcomes.filter(({ ok }) => ok).length} of ${outcomes.length}`,
      ...times.length === 0 ? [] : [`${median(times).toFixed(0)} ms from the relayed connection to the direct one`],
      ...left.length === 0 ? [] : [`left behind: ${left.join(', ')}`]
    ].join(', '),
    complaints: outcomes.flatMap(outcome => complaintsOf(outcome, cell.expected)),
    raw: outcomes
  }
}

function complaintsOf ({ ok, relayed, observed, left = [], reasons }: PunchOutcome, expected: PunchCell['expected']): string[] {
  if (expected === 'none') {
    // and the relayed connection goes on, and nothing is left of the attempts
    return [...ok ? ['there is a direct connection'] : [], ...relayed ? [] : ['the relayed connection is gone'], ...left.length > 0 ? ['something is left behind'] : []]
  }

  return ok || expected === 'any' ? [] : [['no direct connection', ...observed === false ? ['the relay sees another port than the one that listens'] : [], ...reasons].join('; ')]
}

function commandsOf (cell: PunchCell, binaries: Binaries): PunchCommands {
  const command = (peer: PunchPeer, role: 'relay' | 'private'): string[] => [
    ...isJs(peer) ? [process.execPath, scriptPath(import.meta.url, 'peers/js/peer')] : [binaries[peer] ?? ''],
    role, '--security', cell.security,
    ...isJs(peer) ? ['--stack', peer === 'js' ? 'ours' : peer] : []
  ]

  return {
    relay: command(cell.relay, 'relay'),
    a: command(cell.a, 'private'),
    b: command(cell.b, 'private'),
    js: (['a', 'b'] as const).filter(side => isJs(cell[side]))
  }
}
