import { expect } from 'aegir/chai'
import { reusePort } from '../../src/nat/index.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { hostAddress } from '../fixtures/machine.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { slowLookups } from '../fixtures/slow-lookups.ts'
import { namesWithSeveralAddresses } from './fixtures/names.ts'

namesWithSeveralAddresses('no options', true, defer => rawTransport(defer))
namesWithSeveralAddresses('reusePort', canReusePort, defer => rawTransport(defer, { reusePort: reusePort() }))

describe('a listener on a name that is looked up for long', () => {
  const defer = cleanUpAfterEach()
  const slow = slowLookups.bind(undefined, defer)

  skipUnless(canReusePort)

  it('holds back a dial with reusePort no longer than its timeout, and none to a loopback address', async function () {
    const address = hostAddress()

    if (address == null) {
      return this.skip()
    }

    const { port, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const release = slow()()
    listen('/dns4/listener.invalid/tcp/0').catch(() => {})

    await dial(`/ip4/127.0.0.1/tcp/${port}`, { timeout: 500 })
    await next()
    const { port: other } = await rawPeer(defer, { host: address })
    await expect(dial(`/ip4/${address}/tcp/${other}`, { timeout: 200 }))
      .to.eventually.be.rejected.with.property('name', 'TimeoutError')
    await release()
  }).timeout(20_000)
})
