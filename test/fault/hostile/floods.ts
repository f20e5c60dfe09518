import { KiB } from '../../fixtures/bytes.ts'
import { rawTransport } from '../../fixtures/raw.ts'
import { until, untilStill } from '../../fixtures/waiting.ts'
import { memoryAfterGC } from '../resources/heap.ts'
import { attack } from './attack.ts'
import type { Scenario } from '../scenario.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

const PEERS = 100

/** What may be kept in this process for each */
const MAX_HELD = 256 * KiB

export const floods: Scenario[] = [
  flood('before the handshake, while the upgrade waits for something else', () => {}),
  flood('after the handshake, while the connection is paused', conn => {
    conn.addEventListener('message', () => {})
    conn.pause()
  })
]

function flood (when: string, onInbound: (conn: MultiaddrConnection) => void): Scenario {
  return {
    name: `${PEERS} peers that flood ${when}`,
    runs: 5,
    timeout: 60_000,
    async prepare () {
      return async ({ defer, injected, measured }) => {
        const { port, accepted } = await rawTransport(defer).listen(undefined, { onInbound })
        const before = await external()
        const status = await attack(defer, { behaviour: 'flood', port, connections: PEERS })

        injected(PEERS)
        await until(() => accepted.length === PEERS, 'all are accepted')

        let sent = 0
        const watch = setInterval(() => {
          status().then(attacked => { sent = attacked.sent }, () => {})
        }, 50)
        defer(() => { clearInterval(watch) })

        // the kernel's buffers are full then
        await untilStill(() => sent)
        clearInterval(watch)

        const held = (await external() - before) / PEERS
        measured('KiB held for a peer', held / KiB)

        if (held > MAX_HELD) {
          throw new Error(`holds ${held} bytes for a peer`)
        }

        if (accepted.some(({ status }) => status !== 'open')) {
          throw new Error('a connection was cut although nobody asked for its data yet')
        }
      }
    }
  }
}

/** What buffers take, without garbage */
async function external (): Promise<number> {
  return (await memoryAfterGC()).external
}
