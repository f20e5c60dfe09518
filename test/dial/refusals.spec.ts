import { expect } from 'aegir/chai'
import { Refusals } from '../../src/dial/refusals.ts'

const HOUR = 60 * 60 * 1_000

describe('addresses that refused', () => {
  it('are remembered, each for itself', () => {
    const refusals = new Refusals()
    refusals.add('/ip4/127.0.0.1/tcp/1')

    expect(refusals.age('/ip4/127.0.0.1/tcp/1')).to.be.a('number')
    expect(refusals.age('/ip4/127.0.0.1/tcp/10')).to.equal(undefined)
    expect(refusals.age('/ip4/127.0.0.1/tcp')).to.equal(undefined)
  })

  it('are forgotten after an hour', () => {
    let now = 5
    const refusals = new Refusals(() => now)
    refusals.add('a')

    now += HOUR - 1
    expect(refusals.age('a')).to.equal(HOUR - 1)

    now += 1
    expect(refusals.age('a')).to.equal(undefined)
    expect(refusals.size).to.equal(0)
  })

  it('are remembered for an hour from the last time that they refused', () => {
    let now = 0
    const refusals = new Refusals(() => now)
    refusals.add('a')

    now = HOUR - 1
    refusals.add('a')
    expect(refusals.size).to.equal(1)

    now = HOUR + 1
    expect(refusals.age('a')).to.be.a('number')

    now = 2 * HOUR - 1
    expect(refusals.age('a')).to.equal(undefined)
  })

  it('are a thousand at most: the one that refused longest ago makes room', () => {
    const refusals = new Refusals(() => 0)

    for (let i = 0; i < 1_000; i++) {
      refusals.add(`${i}`)
    }

    expect(refusals.size).to.equal(1_000)
    expect(refusals.age('0')).to.be.a('number')

    // refused again, so 1 is now the oldest
    refusals.add('0')
    refusals.add('1000')

    expect(refusals.size).to.equal(1_000)
    expect(refusals.age('0')).to.be.a('number')
    expect(refusals.age('1')).to.equal(undefined)
    expect(refusals.age('2')).to.be.a('number')
    expect(refusals.age('1000')).to.be.a('number')
  })

  it('take no more memory however many refuse', () => {
    const refusals = new Refusals()

    for (let i = 0; i < 20_000; i++) {
      refusals.add(`/ip4/127.0.0.1/tcp/${i}`)
    }

    expect(refusals.size).to.equal(1_000)
    expect(refusals.age('/ip4/127.0.0.1/tcp/18999')).to.equal(undefined)
    expect(refusals.age('/ip4/127.0.0.1/tcp/19000')).to.be.a('number')
  })
})
