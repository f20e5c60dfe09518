// A muxer aborts at the eleventh stream that comes before its owner listens. Exit code 1: it does
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'

const [outbound, inbound] = multiaddrConnectionPair()
const [dialer, listener] = [outbound, inbound].map(connection => yamux()().createStreamMuxer(connection))

for (let i = 0; i < 50; i++) {
  const stream = await dialer.createStream()

  stream.send(Uint8Array.of(i))
}

// libp2p awaits a connection gater here, before it listens
await new Promise(resolve => { setTimeout(resolve, 200) })

let arrived = 0

listener.addEventListener('stream', ({ detail: stream }) => {
  stream.addEventListener('message', () => { arrived++ })
})
await new Promise(resolve => { setTimeout(resolve, 1_000) })

console.info('%d of 50 streams arrived, the muxer is %s', arrived, listener.status)
process.exit(arrived === 50 ? 0 : 1)
