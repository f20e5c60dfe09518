import { setTimeout as delay } from 'node:timers/promises'
import { KiB, MiB } from '../../fixtures/bytes.ts'
import { rawTransport } from '../../fixtures/raw.ts'
import { until } from '../../fixtures/waiting.ts'
import { heapAfterGC } from '../resources/heap.ts'
import { attack } from './attack.ts'
import type { Scenario } from '../scenario.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

const PEERS = 20
const STALLED_WRITE_TIMEOUT = 60_000

/** Until the kernel's buffers are full, in ms */
const FILLING = 5_000

/** What memory may grow by while nothing moves, with all peers together */
const MAX_GROWTH = MiB

/** What may wait in this process for each peer */
const MAX_HELD = 256 * KiB

export const neverReads: Scenario = {
  name: `${PEERS} peers that go on sending but read nothing for a minute, while we send`,
  runs: 1,
  timeout: 120_000,
  async prepare ({ defer }) {
    return async ({ injected, measured, defer }) => {
      const raw = rawTransport(defer, { stalledWriteTimeout: STALLED_WRITE_TIMEOUT })
      const errors: Array<Error | undefined> = []
      const before = (await memory()).external
      const { port, accepted } = await raw.listen(undefined, {
        onInbound: conn => {
          conn.addEventListener('message', () => {})
          conn.addEventListener('close', ({ error }) => { errors.push(error) })
          sendForEver(conn).catch(() => {})
        }
      })

      await attack(defer, { behaviour: 'chat', port, connections: PEERS })
      injected(PEERS)

      const begin = performance.now()
      await delay(FILLING)

      const full = await memory()
      const held = (full.external - before) / PEERS
      let most = full.all

      while (errors.length === 0 && performance.now() - begin < STALLED_WRITE_TIMEOUT) {
        await delay(1_000)
        most = Math.max(most, (await memory()).all)
      }

      measured('KiB held for a peer', held / KiB)
      measured('KiB more in a minute', (most - full.all) / KiB)

      if (accepted.some(({ writableNeedsDrain }) => !writableNeedsDrain)) {
        throw new Error('send does not push back')
      }

      if (held > MAX_HELD) {
        throw new Error(`holds ${held} bytes for a peer`)
      }

      if (most - full.all > MAX_GROWTH) {
        throw new Error(`memory grew by ${most - full.all} bytes`)
      }

      // looks are a quarter of the limit apart
      await until(() => errors.length === PEERS, 'all are cut', STALLED_WRITE_TIMEOUT / 2)
      measured('s until all were cut', (performance.now() - begin) / 1_000)

      if (!errors.every(error => error?.name === 'TimeoutError')) {
        throw new Error(`cut with ${errors[0]?.name}`)
      }
    }
  }
}

/** What is kept, without garbage: by buffers, and in all */
async function memory (): Promise<{ external: number, all: number }> {
  const heapUsed = await heapAfterGC()
  const { external } = process.memoryUsage()

  return { external, all: heapUsed + external }
}

async function sendForEver (conn: MultiaddrConnection): Promise<void> {
  while (true) {
    if (!conn.send(new Uint8Array(64 * KiB))) {
      await conn.onDrain()
    }
  }
}
