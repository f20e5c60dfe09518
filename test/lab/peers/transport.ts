import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import { multiaddrOf } from './address.ts'
import { MessageChannel } from './channels.ts'
import { OpenConnections } from './open-connections.ts'
import type { Channel, Peer } from './contender.ts'
import type { ComponentLogger, Listener, MultiaddrConnection, Transport } from '@libp2p/interface'

export type TransportFactory = (components: { logger: ComponentLogger }) => Transport

/** The connections of a transport as they are, without encryption and muxer: the upgrader passes them through. */
export function transportPeer (factory: TransportFactory): Peer {
  const transport = factory({ logger: defaultLogger() })
  const listeners: Listener[] = []
  const open = new OpenConnections<MultiaddrConnection>(({ status }) => status === 'open' || status === 'closing')

  return {
    async listen (hosts, onChannel) {
      const upgrader: any = {
        async upgradeInbound (connection: MultiaddrConnection) {
          open.add(connection)
          onChannel?.(new MessageChannel(connection))
        }
      }

      return Promise.all(hosts.map(async host => {
        const listener = transport.createListener({ upgrader })
        listeners.push(listener)
        await listener.listen(multiaddr(multiaddrOf({ host, port: 0 })))

        return listener.getAddrs()[0].toString()
      }))
    },

    async dial (address, signal = new AbortController().signal) {
      const upgrader: any = {
        upgradeOutbound: async (connection: MultiaddrConnection) => connection
      }
      // every dial of libp2p has a signal of its own: the official transport leaves it on the socket
      const connection = await transport.dial(multiaddr(address), { upgrader, signal }) as unknown as MultiaddrConnection
      open.add(connection)
      let channel: Channel | undefined

      return {
        async open () {
          channel ??= new MessageChannel(connection)

          return channel
        },
        close: async signal => connection.close({ signal })
      }
    },

    connections: () => open.count(),

    async close () {
      open.list().forEach(connection => { connection.abort(new Error('The benchmark is over')) })
      await Promise.all(listeners.map(async listener => listener.close()))
    }
  }
}
