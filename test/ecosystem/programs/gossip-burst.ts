import { gossip } from './gossipsub.ts'
import type { Facts, Lab } from './lab.ts'

/** All messages at once: the event loop is blocked for seconds, and libp2p's own pings must not fail meanwhile */
export default async function run (lab: Lab): Promise<Facts> {
  return gossip(lab, Infinity)
}
