import { createInterface } from 'node:readline'
import { identify } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { tls } from '@libp2p/tls'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { tcp } from '../../../../src/index.ts'
import { reusePort } from '../../../../src/nat/index.ts'
import { tell } from '../../../lab/process/lines.ts'
import { stack } from '../../../lab/stacks.ts'
import type { TCPComponents } from '../../../../src/index.ts'
import type { Transport } from '@libp2p/interface'

/**
 * A node of js-libp2p that dials when it is told to, from its listening port. ../../README.md
 * describes the command line and the lines that it prints.
 */

const [listen, security, always] = process.argv.slice(2)
/** `always` from the listening port: by default a node stops that once it has accepted a connection of the peer */
function transport (components: TCPComponents): Transport {
  const made = tcp({ reusePort: reusePort() })(components)
  const dial = made.dial.bind(made)

  made.dial = async (ma: any, options: any) => dial(ma, always === 'true' ? { ...options, reusePort: true } : options)

  return made
}

const node = await createLibp2p({
  ...stack('ours', { encrypter: security === 'tls' ? tls() : noise() }),
  addresses: { listen: [listen], announce: [listen] },
  transports: [transport],
  connectionManager: { inboundConnectionThreshold: 1_000 },
  services: { identify: identify({ runOnConnectionOpen: false }), ping: ping() }
})

async function dial (address: string): Promise<void> {
  let redialed = false

  try {
    const connection = await node.dial(multiaddr(address), {
      force: true,
      onProgress: ({ type }: { type: string }) => { redialed ||= type === 'tcp:redial' }
    })

    await node.services.ping.ping(connection.remotePeer)
    tell({ event: 'dialed', ok: true, redialed })
  } catch (err: any) {
    tell({ event: 'dialed', ok: false, redialed, reason: err.message })
  }
}

tell({ event: 'listening', multiaddr: node.getMultiaddrs()[0].toString() })

for await (const line of createInterface(process.stdin)) {
  const [command, address] = line.split(' ')

  if (command === 'dial') {
    void dial(address)
  } else {
    // both ends close at once: the other end may have ended it by now, with something of ours unsent
    await Promise.all(node.getConnections().map(async connection => connection.close().catch(err => { connection.abort(err) })))
    tell({ event: 'closed' })
  }
}

process.exit()
