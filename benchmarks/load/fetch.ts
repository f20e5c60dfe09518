import { openLink } from '../../test/lab/link/open-link.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import type { HeliaTasks } from './helia-worker.ts'
import type { FetchRow, JsName } from './report.ts'
import type { BottleneckShape } from '../../test/lab/link/link.ts'

/** The packages that `npm run suite ecosystem` installs */
export async function measureFetch (stack: JsName, line: BottleneckShape & { roundTrip: number }, size: number, seconds: number): Promise<FetchRow> {
  const link = await openLink({ delay: line.roundTrip / 2, bottleneck: line })
  const init = { script: scriptPath(import.meta.url, 'helia-worker'), args: [stack] }

  return withCleanUp(async () => link.close(), async () => {
    const [provider, fetcher] = await Promise.all([
      link.start<HeliaTasks>('listener', { ...init, name: `${stack} provider` }),
      link.start<HeliaTasks>('dialer', { ...init, name: `${stack} fetcher` })
    ])
    const { address, root } = await provider.ask('provide', link.listenHost, size)
    const { rate, queue, roundTrip } = line

    return { stack, rate, queue, roundTrip, size, ...await fetcher.ask('fetch', address, root, seconds * 1_000) }
  })
}
