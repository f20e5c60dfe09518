import { setTimeout as wait } from 'node:timers/promises'
import { openLink } from '../../test/lab/link/open-link.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import type { JsName, SlowReaderRow } from './report.ts'
import type { LoadTasks } from './worker.ts'

const MIB = 2 ** 20
const INTERVAL = 250

/** A polite sender has so much for a handler that reads 3 MiB a second, over loopback. */
export async function measureSlowReader (stack: JsName, size: number, seconds: number): Promise<SlowReaderRow> {
  const link = await openLink({ delay: 0 })
  const init = { script: scriptPath(import.meta.url, 'worker'), args: [stack] }

  return withCleanUp(async () => link.close(), async () => {
    const [listener, dialer] = await Promise.all([
      link.start<LoadTasks>('listener', { ...init, name: `${stack} listener` }),
      link.start<LoadTasks>('dialer', { ...init, name: `${stack} dialer` })
    ])
    const row: SlowReaderRow = { stack, sent: 0, read: 0, samples: [] }

    dialer.ask('sendPolitely', await listener.ask('listen', link.listenHost), size).catch((err: Error) => { row.error ??= err.message.split('\n')[0] })
    const began = performance.now()

    for (let at = 0; at < seconds; at = (performance.now() - began) / 1_000) {
      const [sender, receiver] = await Promise.all([dialer.ask('progress'), listener.ask('progress')])

      row.sent = sender.sent / MIB
      row.read = receiver.read / MIB
      row.samples.push({ at: round(at), sender: round(sender.rss / MIB), receiver: round(receiver.rss / MIB) })
      await wait(INTERVAL)
    }

    // what ends from now on is our doing
    row.error ??= ''

    return { ...row, error: row.error === '' ? undefined : row.error }
  })
}

function round (value: number): number {
  return Math.round(value * 10) / 10
}
