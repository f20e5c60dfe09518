import { parentPort, workerData } from 'node:worker_threads'
import { toMultiaddr } from '../../fixtures/raw.ts'
import { echoTransport } from './echo-transport.ts'

/*
 * A thread that has connections in both directions until it is terminated
 */

const { addrs, dial } = await echoTransport(() => {})
const target = toMultiaddr(workerData.addr)

for (let i = 0; i < workerData.connections; i++) {
  const conn = await dial(target)

  // both ends are busy
  conn.addEventListener('message', ({ data }) => { conn.send(data) })
  conn.send(new Uint8Array(10_000))
}

parentPort?.postMessage(addrs[0].toString())
