/*
 * A node to be killed: `node-remote.ts "<state>"` tells its address, and when it
 * has come to where it stays.
 */
import { noise } from '@libp2p/noise'
import { createNode } from '../../fixtures/node.ts'
import { withHandshake, withoutEarlyMuxer } from './encrypters.ts'
import { sendEndlessly } from './send-endlessly.ts'
import { PROTOCOL } from './states.ts'
import type { NodeState } from './states.ts'

const state: NodeState = JSON.parse(process.argv[2])
const encrypters = {
  noise: withHandshake(noise(), stay),
  muxer: withHandshake(withoutEarlyMuxer(noise()), async secure => {
    await secure()
    return stay()
  })
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

async function stay (): Promise<never> {
  tell('here')

  return new Promise(() => {})
}

function tell (what: string): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}
