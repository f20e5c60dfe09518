import { scriptPath } from '../lab/script-path.ts'
import { isJs } from './cells.ts'
import { openLab } from './lab/lab.ts'
import { punch } from './punch.ts'
import type { Cell, PunchPeer } from './cells.ts'
import type { Lab } from './lab/lab.ts'
import type { PunchCommands, PunchOutcome } from './punch.ts'
import type { Binaries } from '../interop/binaries.ts'

export interface CellResult {
  cell: Cell
  outcomes: PunchOutcome[]
}

export interface RunOptions {
  binaries: Binaries
  signal: AbortSignal
  onCell(result: CellResult): void
}

/** How long to wait for a direct connection: three attempts of js take 15 s, of go 30 s */
const PATIENCE = 20_000

/** Where there is to be none: as long as the three attempts take */
const PATIENCE_IN_VAIN = 17_000

/**
 * Run every cell as often as it says, one run after the other: times are measured
 */
export async function runCells (cells: Cell[], { binaries, signal, onCell }: RunOptions): Promise<CellResult[]> {
  const results: CellResult[] = []
  let lab: Lab | undefined

  try {
    for (const cell of cells) {
      if (lab == null || !isSameNetwork(lab, cell)) {
        await lab?.close()
        lab = undefined
        // two cables are between the two sides
        lab = await openLab({ nats: cell.nats, delay: cell.delay / 2 })
      }

      const outcomes: PunchOutcome[] = []

      while (outcomes.length < cell.runs && !signal.aborted) {
        outcomes.push(await punch(lab, commandsOf(cell, binaries), cell.expected === 'none' ? PATIENCE_IN_VAIN : PATIENCE))
      }

      signal.throwIfAborted()
      results.push({ cell, outcomes })
      onCell({ cell, outcomes })
    }
  } finally {
    await lab?.close()
  }

  return results
}

function isSameNetwork ({ shape }: Lab, { nats, delay }: Cell): boolean {
  return shape.nats.a === nats.a && shape.nats.b === nats.b && shape.delay === delay / 2
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
