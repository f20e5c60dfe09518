import { once } from 'node:events'
import net from 'node:net'
import type { Stack } from './stack.ts'

/**
 * Node's sockets as they are.
 */
export function netStack (): Stack {
  return {
    async listen (host, onBytes) {
      const server = net.createServer(socket => {
        const { remotePort = 0 } = socket
        socket.on('error', () => {})
        socket.on('data', chunk => { onBytes(remotePort, chunk.byteLength) })
      })
      server.listen(0, host)
      await once(server, 'listening')

      return { host, port: (server.address() as net.AddressInfo).port }
    },

    async dial (address, noDelay) {
      const socket = net.connect({ ...address, noDelay })
      await once(socket, 'connect')
      socket.on('error', () => {})
      // or the peer's FIN is never seen
      socket.resume()

      return {
        send: bytes => { socket.write(bytes) },
        close: () => { socket.end() }
      }
    }
  }
}
