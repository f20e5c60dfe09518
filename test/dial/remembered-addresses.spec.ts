import { expect } from 'aegir/chai'
import { RememberedAddresses } from '../../src/dial/remembered-addresses.ts'

const HOUR = 60 * 60 * 1_000

describe('remembered addresses', () => {
  it('are remembered, each for itself', () => {
    const addresses = new RememberedAddresses()
    addresses.add('/ip4/127.0.0.1/tcp/1')

    expect(addresses.age('/ip4/127.0.0.1/tcp/1')).to.be.a('number')
    expect(addresses.age('/ip4/127.0.0.1/tcp/10')).to.equal(undefined)
    expect(addresses.age('/ip4/127.0.0.1/tcp')).to.equal(undefined)
  })

  it('are forgotten after an hour', () => {
    let now = 5
    const addresses = new RememberedAddresses(() => now)
    addresses.add('a')

    now += HOUR - 1
    expect(addresses.age('a')).to.equal(HOUR - 1)

    now += 1
    expect(addresses.age('a')).to.equal(undefined)
    expect(addresses.size).to.equal(0)
  })

  it('are remembered for an hour from the last time that they were added', () => {
    let now = 0
    const addresses = new RememberedAddresses(() => now)
    addresses.add('a')

    now = HOUR - 1
    addresses.add('a')
    expect(addresses.size).to.equal(1)

    now = HOUR + 1
    expect(addresses.age('a')).to.be.a('number')

    now = 2 * HOUR - 1
    expect(addresses.age('a')).to.equal(undefined)
  })

  it('are a thousand at most: the one that was added longest ago makes room', () => {
    const addresses = new RememberedAddresses(() => 0)

    for (let i = 0; i < 1_000; i++) {
      addresses.add(`${i}`)
    }

    expect(addresses.size).to.equal(1_000)
    expect(addresses.age('0')).to.be.a('number')

    // added again, so 1 is now the oldest
    addresses.add('0')
    addresses.add('1000')

    expect(addresses.size).to.equal(1_000)
    expect(addresses.age('0')).to.be.a('number')
    expect(addresses.age('1')).to.equal(undefined)
    expect(addresses.age('2')).to.be.a('number')
    expect(addresses.age('1000')).to.be.a('number')
  })

  it('take no more memory however many are added', () => {
    const addresses = new RememberedAddresses()

    for (let i = 0; i < 20_000; i++) {
      addresses.add(`/ip4/127.0.0.1/tcp/${i}`)
    }

    expect(addresses.size).to.equal(1_000)
    expect(addresses.age('/ip4/127.0.0.1/tcp/18999')).to.equal(undefined)
    expect(addresses.age('/ip4/127.0.0.1/tcp/19000')).to.be.a('number')
  })
})
