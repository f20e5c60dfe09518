// A reader that starts after the peer has closed its end waits for ever. Exit code 1: it does
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'

const [outbound, inbound] = multiaddrConnectionPair()
const [dialer, listener] = [outbound, inbound].map(connection => yamux()().createStreamMuxer(connection))
const result = Promise.withResolvers()

listener.addEventListener('stream', async ({ detail: stream }) => {
  // libp2p writes to the peer store here, before it calls the handler
  await new Promise(resolve => { setTimeout(resolve, 100) })

  let bytes = 0

  for await (const data of stream) {
    bytes += data.byteLength
  }

  result.resolve(bytes)
})

const stream = await dialer.createStream()

stream.send(new Uint8Array(1_024))
await stream.sendCloseWrite()

const bytes = await Promise.race([result.promise, new Promise(resolve => { setTimeout(resolve, 2_000) })])

console.info(bytes == null ? 'the reader waits' : `the reader has read ${bytes} bytes`)
process.exit(bytes === 1_024 ? 0 : 1)
