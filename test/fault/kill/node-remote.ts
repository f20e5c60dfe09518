/*
 * A node to be killed: `node-remote.ts "<state>"` tells its address, and when it has come to where it stays.
 */
import { noise } from '@libp2p/noise'
import { createNode } from '../../fixtures/node.ts'
import { tell } from '../../lab/process/lines.ts'
import { withoutEarlyMuxer } from '../../negotiation/fixtures/early-muxer.ts'
import { stuckEncrypter } from '../stuck-encrypter.ts'
import { PROTOCOL } from './kill.ts'
import { sendEndlessly } from './send-endlessly.ts'
import type { NodeState } from './kill.ts'

const state: NodeState = JSON.parse(process.argv[2])
const encrypters = {
  noise: stuckEncrypter(noise(), 'inbound', 'before', () => { tell('here') }),
  muxer: stuckEncrypter(withoutEarlyMuxer(noise()), 'inbound', 'after', () => { tell('here') })
}

const node = await createNode(() => {}, {
  listen: true,
  ...state in encrypters ? { connectionEncrypters: [encrypters[state as keyof typeof encrypters]] } : {}
})

await node.handle(PROTOCOL, async stream => {
  if (state === 'receiving') {
    await sendEndlessly(stream)
  } else {
    stream.addEventListener('message', () => {})
  }
})

// whoever is to kill it may have been killed before
process.stdin.once('end', () => process.exit()).resume()
tell(node.getMultiaddrs()[0].toString())
