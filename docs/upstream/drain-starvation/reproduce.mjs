// A stream that uploads starves every stream that was opened after it. Exit code 1: it does
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'

const [outbound, inbound] = multiaddrConnectionPair({ capacity: 4 })
const [dialer, listener] = [outbound, inbound].map(connection => yamux()().createStreamMuxer(connection))
const answered = Promise.withResolvers()

listener.addEventListener('stream', ({ detail: stream }) => {
  let bytes = 0

  stream.addEventListener('message', ({ data }) => {
    bytes += data.byteLength

    if (bytes === 2) {
      answered.resolve(true)
    }
  })
})

const bulk = await dialer.createStream()
const upload = () => { while (bulk.send(new Uint8Array(16_384))) {} }

bulk.addEventListener('drain', () => { queueMicrotask(upload) })
upload()

const small = await dialer.createStream()

small.send(Uint8Array.of(1))
small.send(Uint8Array.of(1))

const isFair = await Promise.race([answered.promise, new Promise(resolve => { setTimeout(resolve, 2_000, false) })])

console.info(isFair ? 'the small messages arrived' : 'the small messages did not arrive in two seconds')
process.exit(isFair ? 0 : 1)
