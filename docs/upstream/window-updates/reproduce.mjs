// yamux answers every message with a window update. Exit code 1: it does
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'

const [outbound, inbound] = multiaddrConnectionPair()
const [dialer, listener] = [outbound, inbound].map(connection => yamux()().createStreamMuxer(connection))
let bytes = 0
let frames = 0

listener.addEventListener('stream', ({ detail: stream }) => {
  stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
})
// all frames that come back have 12 bytes: window updates
outbound.addEventListener('message', ({ data }) => { frames += data.byteLength / 12 })

const stream = await dialer.createStream()

for (let i = 0; i < 100; i++) {
  stream.send(new Uint8Array(1_024))
  await new Promise(resolve => { setTimeout(resolve, 5) })
}

await new Promise(resolve => { setTimeout(resolve, 200) })

console.info('%d frames answer %d bytes in 100 messages', frames, bytes)
process.exit(bytes === 102_400 && frames < 10 ? 0 : 1)
