import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { StoreDelay } from '../../src/negotiation/store-delay.ts'

describe('the wait for a peer store', () => {
  it('is made once for a protocol, where the store is in memory', async () => {
    const stored: string[] = []
    const storeDelay = new StoreDelay(async protocol => { stored.push(protocol) })

    for (const protocol of ['/a/1', '/a/1', '/b/1', '/a/1']) {
      await storeDelay.pass(protocol)
    }

    expect(stored).to.deep.equal(['/a/1', '/b/1'])
  })

  it('is made for every stream, where the store takes turns of the event loop', async () => {
    const stored: string[] = []
    const storeDelay = new StoreDelay(async protocol => {
      await delay(1)
      stored.push(protocol)
    })

    for (let i = 0; i < 3; i++) {
      await storeDelay.pass('/a/1')
      expect(stored).to.have.lengthOf(i + 1)
    }
  })

  it('remembers no more than 64 protocols', async () => {
    let stored = 0
    const storeDelay = new StoreDelay(async () => { stored++ })

    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 100; i++) {
        await storeDelay.pass(`/${i}`)
      }
    }

    expect(stored).to.equal(100 + 36)
  })
})
