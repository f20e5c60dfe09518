import { createInterface } from 'node:readline'
import { identify } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp } from '../../../../src/index.ts'

/**
 * A node of js-libp2p that dials when it is told to, from its listening port. ../../README.md
 * describes the command line and the lines that it prints.
 */

const [listen, security] = process.argv.slice(2)
const node = await createLibp2p({
  addresses: { listen: [listen], announce: [listen] },
  transports: [tcp({ reusePort: true })],
  connectionEncrypters: [optimistic(security === 'tls' ? tls() : noise())],
  streamMuxers: [optimistic(yamux())],
  connectionManager: { inboundConnectionThreshold: 1_000 },
  services: { identify: identify({ runOnConnectionOpen: false }), ping: ping() }
})

function tell (line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function dial (address: string): Promise<void> {
  let redialled = false

  try {
    const connection = await node.dial(multiaddr(address), {
      force: true,
      onProgress: ({ type }: { type: string }) => { redialled ||= type === 'tcp:redial' }
    })

    await node.services.ping.ping(connection.remotePeer)
    tell({ event: 'dialled', ok: true, redialled })
  } catch (err: any) {
    tell({ event: 'dialled', ok: false, redialled, reason: err.message })
  }
}

tell({ event: 'listening', multiaddr: node.getMultiaddrs()[0].toString() })

for await (const line of createInterface(process.stdin)) {
  const [command, address] = line.split(' ')

  if (command === 'dial') {
    void dial(address)
  } else {
    await Promise.all(node.getConnections().map(async connection => connection.close()))
    tell({ event: 'closed' })
  }
}

process.exit()
