import { expect } from 'aegir/chai'
import { reusePort } from '../../src/nat/index.ts'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { canUseLinux } from '../linux/fixtures/availability.ts'
import type { Defer } from '../fixtures/cleanup.ts'

// https://github.com/ethersphere/bee/issues/868, https://github.com/sigp/lighthouse/issues/1483
describe('a port that another process listens on', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  const itAtOnce = testsAtOnce()
  const systems = canUseLinux ? [false, true] : [false]

  /** @returns the port, or the code of the error */
  async function listen (defer: Defer, port: number | string, options: object, host = '127.0.0.1'): Promise<number | string> {
    return runChild(defer, 'hold-port.ts', [`/ip4/${host}/tcp/${port}`, options]).says()
  }

  for (const { host = '127.0.0.1', ...options } of [{}, { reusePort: {}, host: '0.0.0.0' }, { reusePort: { shared: true } }, ...isThorough && canUseLinux ? [{ reusePort: {} }, { reusePort: {}, linux: {} }] : []]) {
    itAtOnce(`cannot be listened on at ${host} with reusePort where that process has ${JSON.stringify(options)}`, async defer => {
      const port = await listen(defer, 0, options)
      const others = systems.map(async hasLinux => listen(defer, port, { reusePort: {}, ...hasLinux ? { linux: {} } : {} }, host))

      expect(await Promise.all(others)).to.deep.equal(systems.map(() => 'EADDRINUSE'))
    })
  }

  it('has the error that it has without reusePort', async () => {
    const port = await listen(defer, 0, { reusePort: {} })
    const [plain, reused] = await Promise.all([{}, { reusePort: reusePort() }].map(async tcp => createNode(defer, { listen: Number(port), tcp }).catch(err => err)))

    expect(reused).to.be.an('error').with.property('name', plain.name)
    expect(reused.message).to.equal(plain.message)
  })

  for (const hasLinux of systems) {
    itAtOnce(`is shared where both say so${hasLinux ? ', with linux()' : ''}`, async defer => {
      const port = await listen(defer, 0, { reusePort: { shared: true }, linux: hasLinux ? {} : undefined })

      expect(await listen(defer, port, { reusePort: { shared: true }, linux: hasLinux ? {} : undefined })).to.equal(port)
    })
  }

  it('is free again right after stop(), whatever its connections were', async () => {
    const peer = await createNode(defer, { listen: true })
    const node = await createNode(defer, { listen: true, tcp: { reusePort: reusePort() } })
    const port = portOf(node.getMultiaddrs()[0])

    // one that left from the port, and one that was accepted there
    await node.dial(peer.getMultiaddrs())
    await (await createNode(defer)).dial(node.getMultiaddrs())
    await node.stop()
    const again = await createNode(defer, { listen: port, tcp: { reusePort: reusePort() } })

    expect(portOf(again.getMultiaddrs()[0])).to.equal(port)
  })
})
