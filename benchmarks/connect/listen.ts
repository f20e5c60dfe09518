/* eslint-disable no-console */

import { rivalNamed } from '../rivals/registry.ts'
import { withCleanUp } from '../run/interrupt.ts'

/**
 * Runs a listener of ours until a signal ends it, for `--dial` on another
 * machine.
 */
export async function listen (host: string): Promise<never> {
  const peer = await rivalNamed('ours').open('listener')

  return withCleanUp(async () => peer.close(), async () => {
    const multiaddrs = await peer.listen(host)

    console.log(`Listening. From another machine:\n\n${multiaddrs.map(multiaddr => `  npm run benchmark -- --dial ${multiaddr}`).join('\n')}\n\nCtrl-C ends it.`)

    return new Promise<never>(() => {})
  })
}
