import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { addressOf, multiaddrOf } from '../address.ts'
import type { Peer, Rival, Sample } from '../rival.ts'

/**
 * What TCP itself costs: a plain connect and one byte echoed. No stack that
 * connects before it sends can be faster.
 */
export const rival: Rival = {
  name: 'floor',
  title: 'plain net.connect and 1 byte',
  versions: () => ({ node: process.versions.node }),
  async open () {
    const server = net.createServer({ noDelay: true }, socket => {
      socket.on('error', () => {})
      socket.pipe(socket)
    })

    const peer: Peer = {
      async listen (host) {
        server.listen(0, host)
        await once(server, 'listening')
        const { port } = server.address() as net.AddressInfo

        return [multiaddrOf({ host, port })]
      },
      dial,
      async close () {
        server.close()
      }
    }

    return peer
  }
}

async function dial (multiaddr: string): Promise<Sample> {
  const started = performance.now()
  const socket = net.connect({ ...addressOf(multiaddr), noDelay: true })
  await once(socket, 'connect')
  const connected = performance.now()

  socket.write('.')
  await once(socket, 'data')
  const echoed = performance.now()

  socket.end()
  await once(socket, 'close')

  return {
    connect: connected - started,
    security: 0,
    muxer: 0,
    stream: 0,
    firstByte: echoed - connected,
    total: echoed - started,
    close: performance.now() - echoed
  }
}
