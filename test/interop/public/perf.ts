/*
 * The perf test of unified-testing: uploads, downloads and single bytes over the perf protocol, each on a stream of its own.
 * The listener puts its address into a string in redis.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { runPerf, servePerf } from '../../lab/peers/perf-protocol.ts'
import { addressOf } from './address.ts'
import { Redis } from './redis.ts'
import { keyOf, settings } from './settings.ts'
import { stack } from './stack.ts'
import { summary } from './summary.ts'

const OPTIONS = { negotiateFully: false }

const redis = new Redis(settings.redis)
const key = keyOf('listener_multiaddr')
const node = await createLibp2p({
  ...await stack(),
  addresses: { listen: settings.isDialer ? [] : [`/ip4/${process.env.LISTENER_IP ?? '0.0.0.0'}/tcp/0`] }
})

if (settings.isDialer) {
  const connection = await node.dial(multiaddr(await listener()), { signal: AbortSignal.timeout(settings.timeout) })
  const upload = count('UPLOAD_BYTES', 1_073_741_824)
  const download = count('DOWNLOAD_BYTES', 1_073_741_824)

  await print('upload', 'Gbps', count('UPLOAD_ITERATIONS', 10), async () => gigabitsPerSecond(upload, await runPerf(connection, upload, 0, OPTIONS)))
  await print('download', 'Gbps', count('DOWNLOAD_ITERATIONS', 10), async () => gigabitsPerSecond(download, await runPerf(connection, 0, download, OPTIONS)))
  await print('latency', 'ms', count('LATENCY_ITERATIONS', 100), async () => runPerf(connection, 1, 1, OPTIONS))
  await node.stop()
  process.exit()
}

await servePerf(node)
await redis.command('SET', key, addressOf(node))

async function listener (): Promise<string> {
  const deadline = performance.now() + settings.timeout

  while (performance.now() < deadline) {
    const address = await redis.command('GET', key)

    if (typeof address === 'string') {
      return address
    }

    await delay(100)
  }

  throw new Error('No listener has told its address')
}

async function print (name: string, unit: 'Gbps' | 'ms', iterations: number, measure: () => Promise<number>): Promise<void> {
  const values: number[] = []

  while (values.length < iterations) {
    values.push(await measure())
  }

  process.stdout.write(`${name}:\n${summary(values, unit === 'ms' ? 3 : 2)}  unit: ${unit}\n`)
}

function gigabitsPerSecond (bytes: number, ms: number): number {
  return bytes * 8 / 1_000_000 / ms
}

function count (name: string, otherwise: number): number {
  return Number(process.env[name] ?? otherwise)
}
