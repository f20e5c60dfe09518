import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { KiB, MiB, payload } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import { throttlingRelay } from '../fixtures/relay.ts'
import { until } from '../fixtures/waiting.ts'

const PROTOCOL = '/test/swallow/1.0.0'

describe('a node that is stopped', () => {
  const defer = cleanUpAfterEach()

  for (const stopping of ['dialer', 'listener']) {
    it(`delivers what it could hand to the kernel while its connections were being closed, as ${stopping}`, async () => {
      const [dialer, listener] = await Promise.all([
        createNode(defer),
        createNode(defer, { listen: true })
      ])
      const port = await throttlingRelay(defer, portOf(listener.getMultiaddrs()[0]), { bytes: 64 * KiB, every: 5, to: stopping === 'dialer' ? 'server' : 'client' })
      const outbound = await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}/p2p/${listener.peerId}`))

      await until(() => listener.getConnections(dialer.peerId).length === 1, 'the listener knows of the connection')
      const [inbound] = listener.getConnections(dialer.peerId)
      const [stopped, sending, receiver] = stopping === 'dialer' ? [dialer, outbound, listener] : [listener, inbound, dialer]
      let received = 0

      await receiver.handle(PROTOCOL, stream => {
        stream.addEventListener('message', evt => { received += evt.data.byteLength })
      })

      const stream = await sending.newStream(PROTOCOL)

      stream.send(payload(MiB))
      await stopped.stop()
      await until(() => received === MiB, 'everything has arrived')

      expect(received).to.equal(MiB)
    })
  }
})
