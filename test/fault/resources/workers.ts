import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { pEvent } from 'p-event'
import { toMultiaddr } from '../../fixtures/raw.ts'
import { within } from '../../fixtures/waiting.ts'
import { handles, nothingLeft } from '../abort/promptly.ts'
import { echoTransport } from './echo-transport.ts'
import type { Scenario } from '../scenario.ts'

/** In each direction */
const CONNECTIONS = 10

export const workers: Scenario = {
  name: `a thread with ${2 * CONNECTIONS} live connections is terminated`,
  runs: 50,
  timeout: 20_000,
  async prepare ({ defer }) {
    const { addrs, dial, dialAndEcho } = await echoTransport(defer)
    const before = handles()

    return async ({ injected }) => {
      const worker = new Worker(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
        workerData: { addr: addrs[0].toString(), connections: CONNECTIONS }
      })
      const addr = toMultiaddr(await pEvent(worker, 'message') as string)
      const dialed = await Promise.all(Array.from({ length: CONNECTIONS }, async () => dial(addr)))
      const closed = Promise.all(dialed.map(async conn => pEvent(conn, 'close', { rejectionEvents: [] })))

      // all are alive
      await Promise.all(dialed.map(async conn => {
        const echo = new Promise<void>(resolve => {
          // who stops listening makes the peer wait, and does not hear of its end
          conn.addEventListener('message', () => { resolve() })
        })

        conn.send(new Uint8Array(100_000))
        await echo
      }))

      injected()
      await worker.terminate()

      // the sockets of both directions are gone
      await within(2_000, 'noticing', closed)
      await nothingLeft(before, 2_000)
      await dialAndEcho(addrs[1])
      await nothingLeft(before, 2_000)
    }
  }
}
