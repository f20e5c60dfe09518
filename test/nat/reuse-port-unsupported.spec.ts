import net from 'node:net'
import { expect } from 'aegir/chai'
import { ReusePortUnsupportedError } from '../../src/index.ts'
import { createNode } from '../fixtures/node.ts'

describe('reusePort where it is not supported', () => {
  const { BoundSocket } = net

  afterEach(() => {
    Reflect.set(net, 'BoundSocket', BoundSocket)
  })

  it('is an error when the node is created, if Node has no BoundSocket', async () => {
    Reflect.set(net, 'BoundSocket', undefined)

    await expect(createNode(() => {}, { tcp: { reusePort: true } })).to.eventually.be.rejectedWith(/Node 24\.21/)
      .and.to.be.an.instanceOf(ReusePortUnsupportedError)
  })

  it('is an error when the node is created, if the system has no SO_REUSEPORT', async () => {
    Reflect.set(net, 'BoundSocket', class {
      constructor () {
        throw Object.assign(new Error('bind ENOTSUP'), { code: 'ENOTSUP' })
      }
    })

    await expect(createNode(() => {}, { tcp: { reusePort: true } })).to.eventually.be.rejectedWith(/SO_REUSEPORT/)
      .and.to.be.an.instanceOf(ReusePortUnsupportedError)
  })

  it('is not asked for by default', async function () {
    if (process.env.TRANSPORT === 'reuse-port') {
      return this.skip()
    }

    Reflect.set(net, 'BoundSocket', undefined)

    const node = await createNode(() => {})
    await node.stop()
  })
})
