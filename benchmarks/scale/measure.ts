import { withEnds } from './ends.ts'
import { measureCosts } from './measure-costs.ts'
import { measureIdle } from './measure-idle.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Measurements } from '../measurements.ts'

/**
 * Dials connections and closes them, and dials as many that lie idle for `hold` ms,
 * in processes of their own. Every second `onIdle` is told for how many ms those have
 * been idle.
 */
export async function measureConnections (contender: Contender, count: number, hold: number, onIdle: (milliseconds: number) => void): Promise<Measurements> {
  return [
    ...await withEnds(contender, async (ends, addresses) => measureCosts(ends, addresses, contender.level, count)),
    ...await withEnds(contender, async (ends, addresses) => measureIdle(ends, addresses, count, hold, onIdle))
  ]
}
