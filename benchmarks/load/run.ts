import { setTimeout as wait } from 'node:timers/promises'
import { openLink } from '../link/open-link.ts'
import { environment } from '../report/environment.ts'
import { withCleanUp } from '../run/interrupt.ts'
import { progress } from '../run/progress.ts'
import { scriptPath } from '../script-path.ts'
import type { Cell, LoadReport, LoadRow, Pair } from './report.ts'
import type { LoadTasks } from './worker.ts'
import type { Link } from '../link/link.ts'

export interface LoadInit {
  cells: Cell[]
  pairs: Pair[]

  /** In s */
  duration: number
  command: string
}

/** Every pair in each cell, one after another, over a link of its own */
export async function runLoad ({ cells, pairs, duration, command }: LoadInit): Promise<LoadReport> {
  const shown = progress(cells.length * pairs.length)
  const rows: LoadRow[] = []
  let title = ''

  try {
    for (const cell of cells) {
      for (const pair of pairs) {
        shown.step(`${cell.rate} Mbit/s, ${cell.roundTrip} ms, ${cell.queue / 1024} KiB, ${cell.uploads} up: ${pair.dialer} to ${pair.listener}`)

        const link = await openLink({ delay: cell.roundTrip / 2, bottleneck: cell })

        title = link.title
        rows.push(await withCleanUp(async () => link.close(), async () => measure(link, cell, pair, duration * 1_000)))
      }
    }
  } finally {
    shown.stop()
  }

  return { benchmark: 'load', ...environment(command), link: title, duration, rows }
}

async function measure (link: Link, cell: Cell, pair: Pair, duration: number): Promise<LoadRow> {
  const script = scriptPath(import.meta.url, 'worker')
  const [listener, dialer] = await Promise.all([
    link.start<LoadTasks>('listener', { script, args: [pair.listener], name: `${pair.listener} listener` }),
    link.start<LoadTasks>('dialer', { script, args: [pair.dialer], name: `${pair.dialer} dialer` })
  ])
  const load = await dialer.ask('load', await listener.ask('listen', link.listenHost), cell, duration)

  // what is on its way
  await wait(cell.roundTrip)
  const uploaded = await listener.ask('uploaded')

  await Promise.all([listener.end(), dialer.end()])

  return { ...cell, ...pair, ...load, uploaded }
}
