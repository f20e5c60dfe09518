import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { echo, timeFirstByte } from './first-byte.ts'
import type { FirstByte } from '../../test/lab/peers/contender.ts'

/** A process that is one peer of one contender: `worker <level> <contender>`. */

const [level, name] = process.argv.slice(2)
const peer = await contenderNamed(level, name).open({ steps: true })

const tasks = {
  listen: async (host: string): Promise<string[]> => peer.listen([host], echo),
  dial: async (address: string): Promise<FirstByte> => 'dial' in peer ? timeFirstByte(peer, address) : peer.firstByte(address)
}

export type ConnectTasks = typeof tasks

serve(tasks)
