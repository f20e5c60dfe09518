import { openLink } from '../lab/link/open-link.ts'
import { withCleanUp } from '../lab/process/interrupt.ts'
import { scriptPath } from '../lab/script-path.ts'
import type { LineTasks } from './line-worker.ts'
import type { Link, LinkShape } from '../lab/link/link.ts'
import type { Worker } from '../lab/process/worker.ts'

/** Opens a line, and lets a node at one end of it upload to a node at the other without end. */
export async function whileUploading <T> (shape: LinkShape, end: string, use: (ends: { link: Link, listener: Worker<LineTasks>, dialer: Worker<LineTasks> }) => Promise<T>): Promise<T> {
  const link = await openLink(shape)

  return withCleanUp(async () => link.close(), async () => {
    const script = scriptPath(import.meta.url, 'line-worker')
    const [listener, dialer] = await Promise.all([
      link.start<LineTasks>('listener', { script, args: [end], name: 'The listener' }),
      link.start<LineTasks>('dialer', { script, args: [end], name: 'The dialer' })
    ])

    await dialer.ask('upload', await listener.ask('listen', link.listenHost))

    return use({ link, listener, dialer })
  })
}
