import { rm } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { multiaddr } from '@multiformats/multiaddr'
import { ECHO, MiB, Tally, delay, expectSame, payload, sendAll, sumOf, until } from './kit.ts'
import { readSlowly } from './verbs.ts'
import type { Kit } from './kit.ts'
import type { Verbs } from './verbs.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

export interface Ends {
  /** What this process, the dialer, works with */
  here: Kit

  /** What the listening process does */
  there: Verbs
}

export interface Feature {
  title: string
  run(ends: Ends): Promise<void>
}

/** The title of the feature that needs a process of its own */
export const ENDS = 'when a transport has stopped, the process ends by itself'

const IP4 = '/ip4/127.0.0.1/tcp/0'

export const FEATURES: Feature[] = [
  feature('listen and dial on IPv4', async ends => echo(ends, IP4, 1_000)),
  feature('listen and dial on IPv6', async ends => echo(ends, '/ip6/::1/tcp/0', 1_000)),
  feature('listen and dial on a Unix socket', async ends => {
    const file = path.join(os.tmpdir(), `runtimes-${process.pid}-${Math.random().toString(36).slice(2)}.sock`)

    ends.here.defer(async () => rm(file, { force: true }))
    await echo(ends, `/unix/${encodeURIComponent(file)}`, 1_000)
  }),
  feature('listen on a wildcard address', async ({ here, there }) => {
    const addresses = await there.listen('/ip4/0.0.0.0/tcp/0', 'echo')
    const loopback = addresses.find(address => address.startsWith('/ip4/127.'))

    expectSame('an address with 0.0.0.0', addresses.some(address => address.includes('/0.0.0.0/')), false)
    await echoOver(await here.dial(loopback ?? 'none'), payload(1_000))
  }),
  feature('echo 100 B', async ends => echo(ends, IP4, 100)),
  feature('echo 1 MiB', async ends => echo(ends, IP4, MiB)),
  feature('echo 16 MiB', async ends => echo(ends, IP4, 16 * MiB)),
  feature('10,000 messages sent in one tick arrive in order', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'count')
    const connection = await here.dial(address)
    const data = payload(100_000)

    for (let i = 0; i < data.byteLength; i += 10) {
      connection.send(data.subarray(i, i + 10))
    }

    await arrives(there, data)
  }),
  feature('send() tells when to wait, and onDrain() when to go on', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'count')
    const connection = await here.dial(address)
    const data = payload(16 * MiB)
    let waits = 0

    for (let i = 0; i < data.byteLength; i += MiB) {
      if (!connection.send(data.subarray(i, i + MiB))) {
        waits++
        await connection.onDrain()
      }
    }

    await arrives(there, data)
    expectSame('a wait', waits > 0, true)
  }),
  feature('the peer sends FIN while 8 MiB wait to be sent: all arrives', async ({ here, there }) => {
    const connection = await here.dial(`/ip4/127.0.0.1/tcp/${await there.serve('FIN, then read')}`)
    const data = payload(8 * MiB)

    for (let i = 0; i < data.byteLength; i += 65_536) {
      connection.send(data.subarray(i, i + 65_536))
    }

    await arrives(there, data)
  }),
  feature('3 MiB and close(), to a slow reader that talks: all arrives', async ({ here, there }) => {
    const connection = await here.dial(`/ip4/127.0.0.1/tcp/${await there.serve('read slowly and talk')}`)
    const data = payload(3 * MiB)

    for (let i = 0; i < data.byteLength; i += 65_536) {
      connection.send(data.subarray(i, i + 65_536))
    }

    await connection.close()
    await arrives(there, data)
  }),
  feature('3 MiB and close() by a listener, to a slow reader that talks: all arrives', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'send and close')
    const socket = net.connect({ port: portOf(address), host: '127.0.0.1', allowHalfOpen: true })
    const tally = new Tally()

    here.defer(() => socket.destroy())
    socket.on('error', () => {})
    await readSlowly(socket, tally)
    expectSame('what was received', tally.seen.bytes, 3 * MiB)
    expectSame('its sum', tally.seen.sum, sumOf(payload(3 * MiB)))
  }),
  feature('close(): both ends close without an error', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'echo')
    const connection = await here.dial(address)
    const closed = closeOf(connection)

    await echoOver(connection, payload(1_000))
    await connection.close()
    expectSame('the error here', (await closed)?.name, undefined)
    await until('the listener closes', async () => (await there.seen())[0].closed)
    expectSame('the error there', (await there.seen())[0].error, undefined)
  }),
  feature('abort(): both ends close, this one with the reason', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'echo')
    const connection = await here.dial(address)
    const closed = closeOf(connection)

    await echoOver(connection, payload(1_000))
    connection.abort(new Error('enough'))
    expectSame('the error here', (await closed)?.message, 'enough')
    await until('the listener closes', async () => (await there.seen())[0].closed)
  }),
  feature('the peer aborts: the connection closes', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'abort')
    const connection = await here.dial(address)
    const closed = closeOf(connection)

    connection.send(payload(10))
    await closed
  }),
  feature('the peer sends RST: the connection closes with an error', async ({ here, there }) => {
    const connection = await here.dial(`/ip4/127.0.0.1/tcp/${await there.serve('RST')}`)
    const closed = closeOf(connection)

    connection.send(payload(10))
    expectSame('an error', (await closed) != null, true)
  }),
  feature('the peer sends FIN: the connection closes without an error', async ({ here, there }) => {
    const connection = await here.dial(`/ip4/127.0.0.1/tcp/${await there.serve('FIN')}`)
    const closed = closeOf(connection)

    connection.send(payload(10))
    expectSame('the error', (await closed)?.name, undefined)
  }),
  feature('a dial that is refused says ECONNREFUSED', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'echo')

    await there.closeListener()

    const error: any = await here.dial(address).then(() => undefined, error => error)

    expectSame('the code', error?.code ?? error?.cause?.code, 'ECONNREFUSED')
  }),
  feature('a dial to a silent peer ends with its signal', async ({ here, there }) => {
    const port = await there.serve('say nothing')
    const node = await here.node([])
    const start = performance.now()
    const error = await node.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`), { signal: AbortSignal.timeout(300) }).then(() => undefined, error => error)

    expectSame('a rejection', error != null, true)
    expectSame('in time', performance.now() - start < 5_000, true)
    await until('the socket closes', async () => (await there.seen()).every(({ closed }) => closed))
  }),
  feature('the signal of a dial ends with the dial', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'echo')
    const controller = new AbortController()
    const connection = await here.dial(address, { signal: controller.signal })

    controller.abort()
    await echoOver(connection, payload(1_000))
  }),
  feature('a dialed connection that is idle is closed', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'say nothing')
    const connection = await here.dial(address, { transport: here.transport({ outboundSocketInactivityTimeout: 300 }) })

    await closeOf(connection)
  }),
  feature('an accepted connection that is idle is closed', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'say nothing', { inboundSocketInactivityTimeout: 300 })

    await here.dial(address)
    await until('the listener closes', async () => (await there.seen())[0]?.closed)
  }),
  feature('maxConnections: one more is dropped', async ({ here, there }) => {
    const [address] = await there.listen(IP4, 'echo', { maxConnections: 2 })

    for (let i = 0; i < 2; i++) {
      await echoOver(await here.dial(address), payload(100))
    }

    const third = await here.dial(address).catch(() => undefined)

    if (third != null) {
      third.send(payload(100))
      await closeOf(third)
    }

    expectSame('the connections that were accepted', (await there.seen()).length, 2)
  }),
  feature('closeServerOnMaxConnections: refuses, and listens again on the same port', async ({ here, there }) => {
    const init: TCPOptions = { closeServerOnMaxConnections: { closeAbove: 2, listenBelow: 2 } }
    const [address] = await there.listen(IP4, 'echo', init)
    const connections = [await here.dial(address), await here.dial(address)]

    await until('the listener refuses', async () => here.dial(address).then(connection => { connection.abort(new Error('one too many')); return false }, () => true))
    await Promise.all(connections.map(async connection => connection.close()))
    await until('the listener accepts again', async () => here.dial(address).then(async connection => { await echoOver(connection, payload(100)); return true }, () => false))
  }),
  feature('Noise and yamux: echo 1 MiB on a stream', async ({ here, there }) => {
    const connection = await dialNode(here, there)

    await echoOnStream(connection, MiB)
  }),
  feature('identify', async ({ here, there }) => {
    const node = await here.node([])
    const identified = new Promise<string[]>(resolve => { node.addEventListener('peer:identify', ({ detail }) => { resolve(detail.protocols) }) })

    await node.dial((await there.node()).map(address => multiaddr(address)))
    expectSame('the echo protocol', (await identified).includes(ECHO), true)
  }),
  feature('ping, twenty times', async ({ here, there }) => {
    const node = await here.node([])
    const connection = await node.dial((await there.node()).map(address => multiaddr(address)))

    for (let i = 0; i < 20; i++) {
      await node.services.ping.ping(connection.remotePeer)
    }
  }),
  feature('100 streams opened right after the dial', async ({ here, there }) => {
    const connection = await dialNode(here, there)

    await Promise.all(Array.from({ length: 100 }, async (_, i) => echoOnStream(connection, 1_000 + i, 100)))
  }),
  feature('stop() of the peer closes the connections of both', async ({ here, there }) => {
    const node = await here.node([])

    await node.dial((await there.node()).map(address => multiaddr(address)))
    await there.stopNode()
    await until('the connection closes', () => node.getConnections().length === 0)
    expectSame('the connections there', await there.connections(), 0)
  }),

  // the runner looks at it, in a process that did nothing else
  feature(ENDS, async ends => echo(ends, IP4, 100))
]

function feature (title: string, run: Feature['run']): Feature {
  return { title, run }
}

async function dialNode (here: Kit, there: Verbs): Promise<any> {
  const node = await here.node([])

  return node.dial((await there.node()).map(address => multiaddr(address)))
}

async function echoOnStream (connection: any, length: number, maxOutboundStreams?: number): Promise<void> {
  await echoOver(await connection.newStream(ECHO, { maxOutboundStreams }), payload(length))
}

async function echo ({ here, there }: Ends, address: string, length: number): Promise<void> {
  const [listening] = await there.listen(address, 'echo')

  await echoOver(await here.dial(listening), payload(length))
}

async function echoOver (connection: MultiaddrConnection, data: Uint8Array): Promise<void> {
  const tally = new Tally()
  const done = new Promise<void>((resolve, reject) => {
    connection.addEventListener('message', event => {
      tally.add(event.data)

      if (tally.seen.bytes >= data.byteLength) {
        resolve()
      }
    })
    connection.addEventListener('close', ({ error }) => { reject(error ?? new Error(`closed after ${tally.seen.bytes} bytes`)) })
  })

  await Promise.all([sendAll(connection, data), done])
  expectSame('the sum of the echo', tally.seen.sum, sumOf(data))
}

/** Wait until the first connection of the other process has received all of it */
async function arrives (there: Verbs, data: Uint8Array): Promise<void> {
  await until('all arrives', async () => {
    const [seen] = await there.seen()

    if (seen?.closed && seen.bytes < data.byteLength) {
      throw new Error(`${seen.bytes} of ${data.byteLength} bytes arrived, then ${seen.error ?? 'the end'}`)
    }

    return seen?.bytes === data.byteLength
  })
  expectSame('the sum', (await there.seen())[0].sum, sumOf(data))
}

async function closeOf (connection: MultiaddrConnection): Promise<Error | undefined> {
  return Promise.race([
    new Promise<Error | undefined>(resolve => { connection.addEventListener('close', ({ error }) => { resolve(error) }) }),
    delay(10_000).then(() => { throw new Error('not closed within 10 s') })
  ])
}

function portOf (address: string): number {
  return Number(address.split('/')[4])
}
