/*
 * What a user of the package writes. It is copied into an empty project that
 * has the packed package installed, type-checked there and run.
 */
import { noise } from '@libp2p/noise'
import { createLibp2p } from 'libp2p'
import { CLOSE_TIMEOUT, optimistic, tcp, yamux } from 'libp2p-fast-tcp'
import type { TCPOptions } from 'libp2p-fast-tcp'

const options: TCPOptions = {
  closeTimeout: CLOSE_TIMEOUT,
  dialOpts: { noDelay: true, family: 4 }
}

const createNode = async (listen: string[]): ReturnType<typeof createLibp2p> => createLibp2p({
  addresses: { listen },
  transports: [tcp(options)],
  connectionEncrypters: [optimistic(noise())],
  streamMuxers: [yamux()]
})

const listener = await createNode(['/ip4/127.0.0.1/tcp/0'])
const dialer = await createNode([])

await listener.handle('/echo/1.0.0', stream => {
  stream.addEventListener('message', event => { stream.send(event.data) })
})

const stream = await dialer.dialProtocol(listener.getMultiaddrs(), '/echo/1.0.0', { negotiateFully: false })
const echo = new Promise<string>((resolve, reject) => {
  stream.addEventListener('message', event => { resolve(new TextDecoder().decode(event.data.subarray())) })
  stream.addEventListener('close', event => { reject(event.error ?? new Error('closed')) })
})

stream.send(new TextEncoder().encode('hello'))
console.info(await echo) // eslint-disable-line no-console

await dialer.stop()
await listener.stop()
