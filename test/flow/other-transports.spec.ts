import { memory } from '@libp2p/memory'
import { pEvent } from 'p-event'
import { yamux } from '../../src/index.ts'
import { MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO, createNode } from '../fixtures/node.ts'
import { until } from '../fixtures/waiting.ts'
import { InOrder, sendNumbered } from './fixtures/numbered.ts'
import { PROTOCOL, openStream } from './fixtures/stacks.ts'
import type { TestNode } from '../fixtures/node.ts'
import type { Libp2pOptions } from 'libp2p'

/** So that what was sent in memory has arrived */
async function turns (): Promise<void> {
  for (let i = 0; i < 100; i++) {
    await new Promise(resolve => { setImmediate(resolve) })
  }
}

describe('a node that has another transport, too', () => {
  const defer = cleanUpAfterEach()

  /** Each node has tcp() and memory(), of which only the listener listens on both */
  async function nodes (name: string, streamMuxers: Libp2pOptions['streamMuxers']): Promise<[dialer: TestNode, listener: TestNode]> {
    const options = { transports: [memory()], connectionMonitor: { enabled: false }, streamMuxers }

    return Promise.all([createNode(defer, options), createNode(defer, { ...options, listen: true, addresses: { listen: ['/ip4/127.0.0.1/tcp/0', `/memory/${name}`] } })])
  }

  it('works the same on connections of both', async () => {
    const [dialer, listener] = await nodes('both', [yamux()])
    const addresses = listener.getMultiaddrs()

    for (const protocol of ['memory', 'tcp']) {
      const connection = await dialer.dial(addresses.filter(ma => ma.toString().includes(`/${protocol}/`)))
      const { outgoing, incoming } = await openStream(connection, listener)
      const taken = new InOrder()

      incoming.addEventListener('message', ({ data }) => { taken.add(data) })
      await sendNumbered(outgoing, 8 * MiB).done
      await until(() => taken.bytes === 8 * MiB, 'all is there')
      await listener.unhandle(PROTOCOL)
      await connection.close()
    }
  })

  it('goes on if a connection of the other ends with data on it while a connection gater decides', async () => {
    const { promise: decided, resolve: decide } = Promise.withResolvers<void>()
    let isAsked = false
    const options = { transports: [memory()], connectionMonitor: { enabled: false }, streamMuxers: [yamux()] }
    const dialer = await createNode(defer, options)
    const listener = await createNode(defer, {
      ...options,
      listen: true,
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0', '/memory/gated'] },
      connectionGater: {
        denyInboundUpgradedConnection: async () => {
          isAsked = true
          await decided

          return false
        }
      }
    })
    const opened = pEvent(listener, 'connection:open')
    const connection = await dialer.dial(listener.getMultiaddrs().filter(ma => ma.toString().includes('/memory/')))

    await until(() => isAsked, 'the gater is asked')
    connection.newStream(ECHO).catch(() => {})
    await turns()
    connection.abort(new Error('The peer ends it'))
    await turns()
    decide()

    // an error of a listener would end the process
    await opened
  })
})
