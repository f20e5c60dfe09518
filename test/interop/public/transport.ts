/*
 * The transport test of unified-testing: a dial, and a ping. The listener puts its address into a list in redis.
 */
import { ping } from '@libp2p/ping'
import { createLibp2p } from 'libp2p'
import { addressOf } from './address.ts'
import { dialAndPing, printLatency } from './ping.ts'
import { Redis } from './redis.ts'
import { keyOf, settings } from './settings.ts'
import { stack } from './stack.ts'

const redis = new Redis(settings.redis)
const key = keyOf('listener_multiaddr')
const node = await createLibp2p({
  ...await stack(),
  addresses: { listen: settings.isDialer ? [] : [`/ip4/${process.env.LISTENER_IP ?? '0.0.0.0'}/tcp/0`] },
  services: { ping: ping() }
})

if (settings.isDialer) {
  const found = await redis.command('BLPOP', key, `${settings.timeout / 1_000}`)

  if (!Array.isArray(found)) {
    throw new Error('No listener has told its address')
  }

  printLatency(await dialAndPing(node, found[1], AbortSignal.timeout(settings.timeout)))
  await node.stop()
  process.exit()
}

// of an earlier test by that name
await redis.command('DEL', key)
await redis.command('RPUSH', key, addressOf(node))
