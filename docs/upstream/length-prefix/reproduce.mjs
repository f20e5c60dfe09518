// The decoder throws and catches a RangeError for every batch that it has read to its end. Exit code 1: it does
import { LengthPrefixedDecoder } from '@libp2p/utils'

let errors = 0

// as Noise's: two bytes, big-endian
function lengthDecoder (data) {
  if (data.byteLength < 2) {
    errors++
    throw new RangeError('Could not decode int16BE')
  }

  return (data.get(0) << 8) + data.get(1)
}

lengthDecoder.bytes = 2

const decoder = new LengthPrefixedDecoder({ lengthDecoder, encodingLength: () => 2 })
let messages = 0

for (let i = 0; i < 100; i++) {
  messages += [...decoder.decode(Uint8Array.of(0, 1, i))].length
}

console.info('%d messages, %d errors', messages, errors)
process.exit(messages === 100 && errors === 0 ? 0 : 1)
