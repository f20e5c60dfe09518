import { serve } from '../workers/serve.ts'
import { rivalNamed } from './registry.ts'
import type { Role, Sample } from './rival.ts'

/**
 * A process that is one peer of one rival: `peer <rival> <role>`.
 */

const [name, role] = process.argv.slice(2)
const peer = await rivalNamed(name).open(role as Role)

const tasks = {
  listen: async (host: string): Promise<string[]> => peer.listen(host),
  dial: async (multiaddr: string): Promise<Sample> => peer.dial(multiaddr)
}

export type PeerTasks = typeof tasks

serve(tasks)
