// `onDrain()` waits only the first time. Exit code 1: it does
import { streamPair } from '@libp2p/utils'

const [sender] = await streamPair({ capacity: 1, delay: 50 })
let waits = 0
let drains = 0

sender.addEventListener('drain', () => { drains++ })

for (let i = 0; i < 5; i++) {
  while (sender.send(new Uint8Array(1_024))) {}

  const before = drains

  await sender.onDrain()
  waits += drains > before ? 1 : 0
}

console.info('%d of 5 calls of onDrain() waited', waits)
process.exit(waits === 5 ? 0 : 1)
