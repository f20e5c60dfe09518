import { scriptPath } from '../lab/script-path.ts'
import { isJs } from './cells.ts'
import { punch } from './punch.ts'
import type { Cell, PunchPeer } from './cells.ts'
import type { KeptLab } from './lab/lab.ts'
import type { PunchCommands, PunchOutcome } from './punch.ts'
import type { Binaries } from '../interop/binaries.ts'
import type { Verdict } from '../lab/suite/run-cells.ts'

export interface CellResult {
  cell: Cell
  outcomes: PunchOutcome[]
}

/** How long to wait for a direct connection: three attempts of js take 15 s, of go 30 s */
const PATIENCE = 20_000

/** Where there is to be none: as long as the three attempts take */
const PATIENCE_IN_VAIN = 17_000

/** As often as the cell says, one run after the other: times are measured */
export async function runCell (cell: Cell, networks: KeptLab, binaries: Binaries, signal: AbortSignal): Promise<CellResult> {
  // two cables are between the two sides
  const lab = await networks.open({ nats: cell.nats, delay: cell.delay / 2 })
  const outcomes: PunchOutcome[] = []

  while (outcomes.length < cell.runs && !signal.aborted) {
    outcomes.push(await punch(lab, commandsOf(cell, binaries), cell.expected === 'none' ? PATIENCE_IN_VAIN : PATIENCE, signal))
  }

  return { cell, outcomes }
}

/** How a cell went, and what of that was not to be */
export function verdictOf ({ cell: { expected }, outcomes }: CellResult): Verdict {
  const left = outcomes.flatMap(({ left = [] }) => left)

  return {
    summary: `${outcomes.filter(({ ok }) => ok).length} of ${outcomes.length}${left.length === 0 ? '' : `, left behind: ${left.join(', ')}`}`,
    complaints: outcomes.flatMap(({ ok, relayed, left = [], reasons }) => {
      if (expected === 'none') {
        // and the relayed connection goes on, and nothing is left of the attempts
        return [...ok ? ['there is a direct connection'] : [], ...relayed ? [] : ['the relayed connection is gone'], ...left.length > 0 ? ['something is left behind'] : []]
      }

      return ok || expected === 'any' ? [] : [['no direct connection', ...reasons].join('; ')]
    })
  }
}

function commandsOf (cell: Cell, binaries: Binaries): PunchCommands {
  const command = (peer: PunchPeer, role: 'relay' | 'private'): string[] => (
    [...program(peer, binaries), role, '--security', cell.security, ...isJs(peer) ? ['--stack', STACKS[peer]] : []]
  )

  return {
    relay: command(cell.relay, 'relay'),
    a: command(cell.a, 'private'),
    b: command(cell.b, 'private'),
    js: (['a', 'b'] as const).filter(side => isJs(cell[side]))
  }
}

const STACKS = { js: 'decorated', plain: 'plain', official: 'official' }

function program (peer: PunchPeer, binaries: Binaries): string[] {
  if (isJs(peer)) {
    return [process.execPath, scriptPath(import.meta.url, 'peers/js/peer')]
  }

  const binary = binaries[peer]

  if (binary == null) {
    throw new Error(`There is no ${peer} peer`)
  }

  return [binary]
}
