import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import { addressOf, multiaddrOf } from '../../rivals/address.ts'
import type { Stack } from './stack.ts'
import type { ComponentLogger, MultiaddrConnection, Transport, Upgrader } from '@libp2p/interface'

type TransportFactory = (options: { dialOpts: { noDelay: boolean } }) => (components: { logger: ComponentLogger }) => Transport

const TIMEOUT = 30_000

/**
 * A libp2p transport without what libp2p puts on top of it: an upgrader that
 * upgrades nothing leaves the connections as they are.
 */
export function transportStack (tcp: TransportFactory): Stack {
  const components = { logger: defaultLogger() }

  return {
    async listen (host, onBytes) {
      const upgrader = {
        upgradeInbound: async (connection: MultiaddrConnection) => {
          const { port } = addressOf(connection.remoteAddr.toString())
          connection.addEventListener('message', ({ data }) => { onBytes(port, data.byteLength) })
        }
      }
      const listener = tcp({ dialOpts: { noDelay: true } })(components)
        .createListener({ upgrader: upgrader as unknown as Upgrader })
      await listener.listen(multiaddr(multiaddrOf({ host, port: 0 })))

      return addressOf(listener.getAddrs()[0].toString())
    },

    async dial (address, noDelay) {
      const upgrader = {
        upgradeOutbound: async (connection: MultiaddrConnection) => connection
      }
      const connection: unknown = await tcp({ dialOpts: { noDelay } })(components)
        .dial(multiaddr(multiaddrOf(address)), {
          upgrader: upgrader as unknown as Upgrader,
          signal: AbortSignal.timeout(TIMEOUT)
        })
      const channel = connection as MultiaddrConnection

      return {
        send: bytes => { channel.send(bytes) },
        close: () => { channel.close().catch(() => {}) }
      }
    }
  }
}
