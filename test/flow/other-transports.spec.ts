import { memory } from '@libp2p/memory'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { optimistic } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { until } from '../fixtures/waiting.ts'
import { countUpdates } from './fixtures/window-updates.ts'
import type { TestNode } from '../fixtures/node.ts'
import type { Libp2pOptions } from 'libp2p'

describe('a node that has another transport, too', () => {
  const defer = cleanUpAfterEach()

  /** Each node has tcp() and memory(), of which only the listener listens on both */
  async function nodes (name: string, streamMuxers: Libp2pOptions['streamMuxers']): Promise<[dialer: TestNode, listener: TestNode]> {
    const options = { transports: [memory()], connectionMonitor: { enabled: false }, streamMuxers }

    return Promise.all([createNode(defer, options), createNode(defer, { ...options, listen: true, addresses: { listen: ['/ip4/127.0.0.1/tcp/0', `/memory/${name}`] } })])
  }

  for (const [muxer, factory] of Object.entries({ yamux: () => yamux(), 'optimistic(yamux)': () => optimistic(yamux()) })) {
    it(`gives credit on connections of tcp(), and leaves those of the other to ${muxer}`, async () => {
      const name = muxer.replace(/\W/g, '')
      const [dialer, listener] = await nodes(name, [factory()])
      const addresses = listener.getMultiaddrs()

      for (const [protocol, isOurs] of [['memory', false], ['tcp', true], ['memory', false]] as const) {
        const connection = await dialer.dial(addresses.filter(ma => ma.toString().includes(`/${protocol}/`)))
        const updates = await countUpdates(connection, listener, 100)

        if (isOurs) {
          expect(updates()).to.be.at.most(4)
        } else {
          await until(() => updates() >= 100, 'each message is answered')
        }

        await listener.unhandle('/test/upload/1.0.0')
        await connection.close()
      }
    })
  }
})
