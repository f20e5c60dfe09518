// The dial queue does not hand the options of a dial to the transport. Exit code 1: `initiator` is lost
import { transportSymbol } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'

let seen
const transport = {
  [transportSymbol]: true,
  [Symbol.toStringTag]: 'recorder',
  dial: async (_, options) => {
    seen = options.initiator
    throw new Error('This transport only looks')
  },
  listenFilter: () => [],
  dialFilter: addresses => addresses
}
let connectionManager

await createLibp2p({
  transports: [() => transport],
  services: { spy: components => { connectionManager = components.connectionManager } }
})
await connectionManager.openConnection(multiaddr('/ip4/127.0.0.1/tcp/1'), { initiator: false }).catch(() => {})

console.info('initiator: %s', seen)
process.exit(seen === false ? 0 : 1)
