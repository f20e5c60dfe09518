import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { reusePort } from '../../src/nat/index.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { collectGarbage } from '../fixtures/garbage.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { passThrough, portOf, rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'

describe('listeners that cannot listen, with reusePort', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  it('are forgotten, also if nobody closes them', async () => {
    const taken = await rawPeer(defer)
    const { transport } = rawTransport(defer, { reusePort: reusePort() })
    const failed: Array<WeakRef<object>> = []

    for (let i = 0; i < 20; i++) {
      const listener = transport.createListener({ upgrader: passThrough() })
      await expect(listener.listen(multiaddr(taken.addr))).to.eventually.be.rejected.with.property('code', 'EADDRINUSE')
      failed.push(new WeakRef(listener))
    }

    await until(() => {
      collectGarbage()

      // the variable of the loop may still hold the last one
      return failed.filter(listener => listener.deref() != null).length <= 1
    }, 'no failed listener is left in memory')
  })

  it('let dials leave from the port that they listen on in the end', async () => {
    const taken = await rawPeer(defer)
    const peer = await rawPeer(defer)
    const { dial, transport } = rawTransport(defer, { reusePort: reusePort() })
    const listener = transport.createListener({ upgrader: passThrough() })
    defer(async () => listener.close())

    await expect(listener.listen(multiaddr(taken.addr))).to.eventually.be.rejected.with.property('code', 'EADDRINUSE')
    await listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0'))
    await dial(peer.addr)

    expect(await peer.next()).to.have.property('remotePort', portOf(listener.getAddrs()[0]))
  })
})
