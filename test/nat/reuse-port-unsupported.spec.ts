import net from 'node:net'
import { expect } from 'aegir/chai'
import { ReusePortUnsupportedError, reusePort } from '../../src/nat/index.ts'
import { createNode } from '../fixtures/node.ts'

describe('reusePort where it is not supported', () => {
  const { BoundSocket } = net

  afterEach(() => {
    Reflect.set(net, 'BoundSocket', BoundSocket)
  })

  it('is an error if Node has no BoundSocket', () => {
    Reflect.set(net, 'BoundSocket', undefined)

    expect(() => reusePort()).to.throw(ReusePortUnsupportedError, /Node 24\.21/)
  })

  it('is an error if the system has no SO_REUSEPORT', () => {
    Reflect.set(net, 'BoundSocket', class {
      constructor () {
        throw Object.assign(new Error('bind ENOTSUP'), { code: 'ENOTSUP' })
      }
    })

    expect(() => reusePort()).to.throw(ReusePortUnsupportedError, /SO_REUSEPORT/)
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
