import { once } from 'node:events'
import net from 'node:net'
import { createInterface } from 'node:readline'
import { autoNATv2 } from '@libp2p/autonat-v2'
import { identify } from '@libp2p/identify'
import { multiaddr } from '@multiformats/multiaddr'
import { Command } from 'commander'
import { createLibp2p } from 'libp2p'
import { tcp } from '../../../../src/index.ts'
import { reusePort } from '../../../../src/nat/index.ts'
import { until } from '../../../fixtures/waiting.ts'
import { endWithInput, tell } from '../../../lab/process/lines.ts'
import { stack } from '../../../lab/stacks.ts'
import type { TCPComponents, TCPDialOptions } from '../../../../src/index.ts'
import type { Connection, Libp2p, Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

const DIAL_REQUEST = '/libp2p/autonat/2/dial-request'
const ANSWER_TIMEOUT = 20_000

/** Nodes of js-libp2p for the AutoNAT part of the NAT lab. ../../README.md describes the command line and the lines that they print. */

interface ServersOptions {
  hosts: string
  observer: string
}

interface ClientOptions {
  listen: string
  servers: string
  observer: string
  warm: boolean
}

/** The transport, with something around its dials */
function tcpWith (around: (dial: (ma: Multiaddr, options: TCPDialOptions) => Promise<Connection>, ma: Multiaddr, options: TCPDialOptions) => Promise<Connection>): (components: TCPComponents) => Transport {
  return components => {
    const transport = tcp({ reusePort: reusePort() })(components)
    const dial = transport.dial.bind(transport)

    transport.dial = async (ma, options) => around(dial, ma, options)

    return transport
  }
}

/** Tells of every dial how it ended */
const telling = tcpWith(async (dial, ma, options) => {
  let port: unknown

  try {
    const connection = await dial(ma, {
      ...options,
      onProgress: (event: any) => { port = event.type === 'tcp:local-port' ? event.detail : port }
    })
    tell({ event: 'dialed-back', ok: true, port })

    return connection
  } catch (err: any) {
    tell({ event: 'dialed-back', ok: false, port, reason: err.message })
    throw err
  }
})

/** AutoNAT servers on several hosts, and a node that only tells clients where it sees them */
async function servers ({ hosts, observer }: ServersOptions): Promise<void> {
  const addresses = await Promise.all([...hosts.split(','), observer].map(async host => {
    const listen = `/ip4/${host}/tcp/4001`
    const node = await createLibp2p({
      ...stack('plain'),
      addresses: { listen: [listen], announce: [listen] },
      transports: [telling],
      // nothing answers slower than that in the lab
      connectionManager: { addressDialTimeout: 1_500, dialTimeout: 1_500, inboundConnectionThreshold: 1_000 },
      services: {
        identify: identify(),
        ...host === observer ? {} : { autonat: autoNATv2() }
      }
    })

    return node.getMultiaddrs()[0].toString()
  }))

  tell({ event: 'listening', addresses })
}

async function client ({ listen, servers, observer, warm }: ClientOptions): Promise<void> {
  // who has visited the servers asks them over a connection from another port
  const asking = tcpWith(async (dial, ma, options) => dial(ma, { ...options, reusePort: warm && !observer.startsWith(ma.decapsulate('/p2p').toString()) ? false : undefined }))
  const node = await createLibp2p({
    ...stack('plain'),
    addresses: { listen: [listen] },
    transports: [asking],
    services: {
      identify: identify(),
      autonat: autoNATv2()
    }
  })

  // the address has to be known before the first server is asked
  const observed = once(node, 'peer:identify')
  await node.dial(multiaddr(observer))
  await observed

  for (const server of servers.split(',')) {
    const ma = multiaddr(server)

    if (warm) {
      await visit(ma, node.getMultiaddrs().concat(multiaddr(listen)))
    }

    await node.dial(ma)
  }

  tell({ event: 'asking' })

  for await (const line of createInterface(process.stdin)) {
    if (line === 'announced') {
      await until(() => !isAsking(node), 'every server has answered', ANSWER_TIMEOUT)
      tell({ event: 'announced', addresses: node.getMultiaddrs().map(String) })
    }
  }
}

/** Whether a server has yet to answer: AutoNAT closes the stream of a request after it has used the answer */
function isAsking (node: Libp2p): boolean {
  return node.getConnections().some(({ streams }) => streams.some(({ protocol }) => protocol === DIAL_REQUEST))
}

/** Leave a NAT with a connection from the listening port to a server that is closed by now */
async function visit (ma: Multiaddr, [own]: Multiaddr[]): Promise<void> {
  const [, , host, , port] = ma.toString().split('/')
  const local = Number(own.toString().split('/')[4])
  const handle = new net.BoundSocket({ host: '0.0.0.0', port: local, reusePort: true })
  const socket = new net.Socket({ handle }).connect(Number(port), host)

  await once(socket, 'connect')
  socket.end()
  socket.resume()
  await once(socket, 'close')
}

const program = new Command()

program.command('servers')
  .requiredOption('--hosts <ips>')
  .requiredOption('--observer <ip>')
  .action(servers)
program.command('client')
  .requiredOption('--listen <multiaddr>')
  .requiredOption('--servers <multiaddrs>')
  .requiredOption('--observer <multiaddr>')
  .option('--warm', '', false)
  .action(client)

endWithInput()
await program.parseAsync()
