import { readFile } from 'node:fs/promises'
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { StoreDelay } from '../../src/optimistic/streams/fin-delay.ts'
import { work } from '../fixtures/turns.ts'

describe('the wait for a peer store', () => {
  it('is made once for a protocol, where the store is in memory', async () => {
    const stored: string[] = []
    const storeDelay = new StoreDelay(async protocol => { stored.push(protocol) })

    for (const protocol of ['/a/1', '/a/1', '/b/1', '/a/1']) {
      await storeDelay.pass(protocol)
    }

    expect(stored).to.deep.equal(['/a/1', '/b/1'])
  })

  for (const [turn, takeTurn] of Object.entries<() => Promise<unknown>>({
    'a timer': async () => {
      const due = delay(1)
      // it is due before the event loop comes to its immediates
      work(2)
      await due
    },
    'an immediate': async () => immediate(),
    'a file': async () => readFile(import.meta.filename)
  })) {
    it(`is made for every stream, where the store waits for ${turn}`, async () => {
      const stored: string[] = []
      const storeDelay = new StoreDelay(async protocol => {
        await takeTurn()
        stored.push(protocol)
      })

      for (let i = 0; i < 3; i++) {
        await immediate()
        await storeDelay.pass('/a/1')
        expect(stored).to.have.lengthOf(i + 1)
      }
    })
  }

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
