import { identify } from '@libp2p/identify'
import { simpleMetrics } from '@libp2p/simple-metrics'
import type { Facts, Lab } from './lab.ts'

/** simple-metrics reads what libp2p 3 no longer has, so that every dial fails: with each transport alike */
export default async function run (lab: Lab): Promise<Facts> {
  const metrics = simpleMetrics({ intervalMs: 50, onMetrics: () => {} })
  const [listener, dialer] = [await lab.node({ services: { identify: identify() } }), await lab.node({ metrics: metrics as any })]
  const dial = await lab.measure(async () => dialer.dial(listener.getMultiaddrs()).then(() => 'succeeds', error => `fails with ${error.name}: ${error.message}`))

  return { dial }
}
