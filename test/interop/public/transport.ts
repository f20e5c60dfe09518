/*
 * The transport test of unified-testing: a dial, and a ping. The listener puts its address into a list in redis, the dialer prints
 * YAML. The environment says what to do, by the names of unified-testing.
 */
import { mplex } from '@libp2p/mplex'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { tls } from '@libp2p/tls'
import { yamux as stockYamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
import { Redis } from './redis.ts'
import type { Stream } from '@libp2p/interface'

const { IS_DIALER, LISTENER_IP = '0.0.0.0', MUXER = 'yamux', SECURE_CHANNEL = 'noise', TEST_TIMEOUT_SECS = '180', TRANSPORT } = process.env
const isDialer = IS_DIALER === 'true'

if (TRANSPORT !== 'tcp') {
  throw new Error(`This is a TCP transport, and no ${TRANSPORT}`)
}

const redis = new Redis(needed('REDIS_ADDR'))
const key = `${needed('TEST_KEY')}_listener_multiaddr`
const node = await createLibp2p({
  // the image has one stack. Here the official one runs beside it: `STACK=official`
  ...process.env.STACK === 'official' ? await official() : ours(),
  addresses: { listen: isDialer ? [] : [`/ip4/${LISTENER_IP}/tcp/0`] },
  // a dialer that redials in a loop must not be taken for an attacker
  connectionManager: { inboundConnectionThreshold: Infinity, maxIncomingPendingConnections: 1_000 },
  services: { ping: ping() }
})

if (isDialer) {
  await dial()
  await node.stop()
  process.exit()
}

// of an earlier test by that name
await redis.command('DEL', key)
await redis.command('RPUSH', key, listeningAddress())

async function dial (): Promise<void> {
  const found = await redis.command('BLPOP', key, TEST_TIMEOUT_SECS)

  if (!Array.isArray(found)) {
    throw new Error('No listener has told its address')
  }

  const signal = AbortSignal.timeout(Number(TEST_TIMEOUT_SECS) * 1_000)
  const start = performance.now()
  const connection = await node.dial(multiaddr(found[1]), { signal })
  // the caller's word that the other end has ping; it changes nothing with the official transport
  const stream = await connection.newStream('/ipfs/ping/1.0.0', { signal, negotiateFully: false })
  const rtt = await pingOver(stream, signal)

  // all else goes to stderr
  process.stdout.write(`latency:\n  handshake_plus_one_rtt: ${(performance.now() - start).toFixed(3)}\n  ping_rtt: ${rtt.toFixed(3)}\n  unit: ms\n`)
  await stream.close({ signal })
}

/** @returns how long the answer took, in ms */
async function pingOver (stream: Stream, signal: AbortSignal): Promise<number> {
  const sent = crypto.getRandomValues(new Uint8Array(32))
  const start = performance.now()
  let received = Buffer.alloc(0)

  stream.send(sent)

  for await (const data of stream) {
    signal.throwIfAborted()
    received = Buffer.concat([received, data.subarray()])

    if (received.byteLength >= sent.byteLength) {
      break
    }
  }

  if (!received.equals(sent)) {
    throw new Error('The answer differs from what was sent')
  }

  return performance.now() - start
}

/** Nobody else reaches a loopback address, unless that is all there is */
function listeningAddress (): string {
  const addresses = node.getMultiaddrs().map(String)

  return addresses.find(address => !address.startsWith('/ip4/127.')) ?? addresses[0]
}

function ours () { // eslint-disable-line @typescript-eslint/explicit-function-return-type
  return { transports: [tcp()], connectionEncrypters: [optimistic(encrypter())], streamMuxers: [MUXER === 'yamux' ? yamux() : muxer()] }
}

async function official () { // eslint-disable-line @typescript-eslint/explicit-function-return-type
  const { tcp } = await import('@libp2p/tcp')

  return { transports: [tcp()], connectionEncrypters: [encrypter()], streamMuxers: [muxer()] }
}

function encrypter (): ReturnType<typeof noise> | ReturnType<typeof tls> {
  return chosen(SECURE_CHANNEL, { noise, tls })()
}

function muxer (): ReturnType<typeof stockYamux> | ReturnType<typeof mplex> {
  return chosen(MUXER, { yamux: stockYamux, mplex })()
}

function chosen <T> (name: string, all: Record<string, T>): T {
  if (!Object.hasOwn(all, name)) {
    throw new Error(`There is no ${name}, but ${Object.keys(all).join(' and ')}`)
  }

  return all[name]
}

function needed (name: string): string {
  const value = process.env[name]

  if (value == null || value === '') {
    throw new Error(`${name} is not set`)
  }

  return value
}
