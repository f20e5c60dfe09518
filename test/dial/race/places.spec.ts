import { expect } from 'aegir/chai'
import { PATIENCE, Places } from '../../../src/dial/race/places.ts'
import { until } from '../../fixtures/waiting.ts'
import type { Place } from '../../../src/dial/race/places.ts'

describe('places for sockets that wait for an answer', () => {
  let places: Places
  let events: string[]

  beforeEach(() => {
    places = new Places(2)
    events = []
  })

  function ask (name: string): Place {
    // timers of the test before may still be pending
    const mine = events

    return places.ask({
      granted: () => { mine.push(`${name} granted`) },
      evicted: () => { mine.push(`${name} evicted`) }
    })
  }

  it('are granted at once while there are any', () => {
    ask('a')
    ask('b')
    ask('c')

    expect(events).to.deep.equal(['a granted', 'b granted'])
    expect(places.size).to.equal(2)
  })

  it('are granted to who waited longest when one is given back, once', () => {
    const a = ask('a')
    ask('b')
    const c = ask('c')
    ask('d')
    a.release()
    a.release()

    expect(events.slice(2)).to.deep.equal(['c granted'])
    c.release()
    expect(events.slice(3)).to.deep.equal(['d granted'])
  })

  it('are not granted to who no longer wants one', () => {
    const a = ask('a')
    ask('b')
    ask('c').release()
    a.release()

    expect(events).to.deep.equal(['a granted', 'b granted'])
    expect(places.size).to.equal(1)
  })

  it('are taken from who has waited too long, once another needs them', async () => {
    const start = performance.now()
    const a = ask('a')
    const b = ask('b')
    const c = ask('c')
    await until(() => events.length > 2, 'a has lost its place')

    expect(performance.now() - start).to.be.at.least(PATIENCE - 2)
    expect(events.slice(2, 4)).to.deep.equal(['a evicted', 'c granted'])
    expect(places.size).to.equal(2);
    [a, b, c].forEach(place => { place.release() })
    expect(places.size).to.equal(0)
  })

  it('are never more than the limit, also if a holder that is told releases another place', () => {
    const a = ask('a')
    const b: Place = places.ask({ granted: () => { a.release() }, evicted: () => {} })
    ask('c')
    ask('d')

    expect(places.size).to.equal(2)
    b.release()
    expect(places.size).to.equal(2)
  })
})
