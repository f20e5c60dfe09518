import { once } from 'node:events'
import net from 'node:net'
import { addressOf, multiaddrOf } from './address.ts'
import { SocketChannel } from './channels.ts'
import { OpenConnections } from './open-connections.ts'
import type { Channel, OpenOptions, Peer } from './contender.ts'

/** Plain sockets, one `write` a message. */
export function rawNet ({ noDelay = true }: OpenOptions = {}): Peer {
  const servers: net.Server[] = []
  const sockets = new OpenConnections<net.Socket>(socket => !socket.destroyed)

  function track (socket: net.Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
  }

  return {
    async listen (hosts, onChannel) {
      return Promise.all(hosts.map(async host => {
        const server = net.createServer({ noDelay: true }, socket => {
          track(socket)
          onChannel?.(new SocketChannel(socket))
        })
        servers.push(server)
        server.listen(0, host)
        await once(server, 'listening')
        const { port } = server.address() as net.AddressInfo

        return multiaddrOf({ host, port })
      }))
    },

    async dial (address) {
      const socket = net.connect({ ...addressOf(address), noDelay })
      await once(socket, 'connect')
      track(socket)
      let channel: Channel | undefined

      return {
        async open () {
          channel ??= new SocketChannel(socket)

          return channel
        },
        async close () {
          socket.end()
          await once(socket, 'close')
        }
      }
    },

    connections: () => sockets.count(),

    async close () {
      servers.forEach(server => { server.close() })
      sockets.list().forEach(socket => { socket.destroy() })
    }
  }
}
