import { expect } from 'aegir/chai'
import { Semaphore } from '../../../src/dial/semaphore.ts'

describe('places for sockets that wait for an answer', () => {
  let places: Semaphore
  let granted: string

  beforeEach(() => {
    places = new Semaphore(2)
    granted = ''
  })

  const take = (name: string): () => void => places.take(() => { granted += name })

  it('are granted at once while there are any', () => {
    take('a')
    take('b')
    take('c')

    expect(granted).to.equal('ab')
  })

  it('are granted to who waited longest when one is given back, once', () => {
    const a = take('a')
    take('b')
    const c = take('c')
    take('d')
    a()
    a()
    expect(granted).to.equal('abc')

    c()
    expect(granted).to.equal('abcd')
  })

  it('are not granted to who no longer wants one', () => {
    const a = take('a')
    take('b')
    take('c')()
    a()
    take('d')

    expect(granted).to.equal('abd')
  })
})
