import { memory } from '@libp2p/memory'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { optimistic } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO, createNode } from '../fixtures/node.ts'
import { until } from '../fixtures/waiting.ts'
import { UPLOAD } from './fixtures/uploads.ts'
import { countUpdates } from './fixtures/window-updates.ts'
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

        await listener.unhandle(UPLOAD)
        await connection.close()
      }
    })
  }

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
