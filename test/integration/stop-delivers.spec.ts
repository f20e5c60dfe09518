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

  it('delivers what it could hand to the kernel while its connections were being closed', async () => {
    const [dialler, listener] = await Promise.all([
      createNode(defer),
      createNode(defer, { listen: true })
    ])
    let received = 0

    await listener.handle(PROTOCOL, stream => {
      stream.addEventListener('message', evt => { received += evt.data.byteLength })
    })

    const port = await throttlingRelay(defer, portOf(listener.getMultiaddrs()[0]), { bytes: 64 * KiB, every: 20 })
    const connection = await dialler.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}/p2p/${listener.peerId}`))
    const stream = await connection.newStream(PROTOCOL)

    stream.send(payload(MiB))
    await dialler.stop()
    await until(() => received === MiB, 'everything has arrived')

    expect(received).to.equal(MiB)
  })
})
