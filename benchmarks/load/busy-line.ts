import { setTimeout as wait } from 'node:timers/promises'
import { openLink } from '../../test/lab/link/open-link.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { percentile } from '../../test/lab/statistics.ts'
import { startReceiver, startUploader } from './ends.ts'
import type { Cell, Load, LoadRow, Pair, Wait } from './report.ts'

/** A new stream that takes longer has failed: libp2p gives up by default, in ms */
const PATIENCE = 10_000

/** Uploads over a link of its own, with small messages beside them. */
export async function measureBusyLine (cell: Cell, pair: Pair, seconds: number): Promise<{ row: LoadRow, link: string }> {
  const link = await openLink({ delay: cell.roundTrip / 2, bottleneck: cell, congestion: cell.congestion })

  return withCleanUp(async () => link.close(), async () => {
    const [receiver, uploader] = await Promise.all([startReceiver(link, pair.listener), startUploader(link, pair.dialer)])

    try {
      const { waits, ...load } = await uploader.load(receiver.address, cell, seconds * 1_000)

      // what is on its way
      await wait(cell.roundTrip)
      const [arrived, traffic] = await Promise.all([receiver.arrived(), link.traffic?.()])
      const { queued = [], late = [], dropped = 0 } = traffic?.dialer ?? {}

      return { row: { ...cell, ...pair, seconds, ...load, ...summaryOf(waits, load), arrived, queued, late, dropped, waits }, link: link.title }
    } finally {
      await Promise.all([receiver.end(), uploader.end()])
    }
  })
}

export function summaryOf (waits: Wait[], { lived, error }: Pick<Load, 'lived' | 'error'>): Pick<LoadRow, 'echo' | 'stream'> {
  const of = (kind: Wait['kind']): Wait[] => waits.filter(wait => wait.kind === kind)
  const timesOf = (kind: Wait['kind']): number[] => of(kind).flatMap(({ ms }) => ms ?? [])
  const [echo, stream] = [timesOf('echo'), timesOf('stream')]
  const failed = of('stream').filter(({ at, ms, hasFailed }) => hasFailed === true || (ms ?? 0) > PATIENCE || (ms == null && (error != null || lived - at > PATIENCE)))

  return {
    echo: { p50: percentile(echo, 50), p95: percentile(echo, 95), max: percentile(echo, 100) },
    stream: { p50: percentile(stream, 50), max: percentile(stream, 100), begun: of('stream').length, failed: failed.length }
  }
}
