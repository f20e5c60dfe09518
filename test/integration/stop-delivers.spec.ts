import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { KiB, MiB, payload } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import { until } from '../fixtures/waiting.ts'
import { openProxy } from '../lab/link/proxy.ts'

const PROTOCOL = '/test/swallow/1.0.0'

describe('a node that is stopped', () => {
  const defer = cleanUpAfterEach()

  for (const stopping of ['dialer', 'listener']) {
    it(`delivers what it could hand to the kernel while its connections were being closed, as ${stopping}`, async () => {
      const [dialer, listener] = await Promise.all([
        createNode(defer),
        createNode(defer, { listen: true })
      ])
      const { port, close } = await openProxy({ target: { host: '127.0.0.1', port: portOf(listener.getMultiaddrs()[0]) }, [stopping === 'dialer' ? 'up' : 'down']: { rate: 64 * KiB / 5 } })
      defer(close)
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
