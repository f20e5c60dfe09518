import { expect } from 'aegir/chai'
import { rank, startTimes } from '../../../src/dial/rank.ts'
import type { AddressFacts } from '../../../src/dial/rank.ts'

type Named = AddressFacts & { name: string }

/** `a4`: address a of IPv4. Behind it what else is known */
function address (text: string): Named {
  const [name, ...facts] = text.split(' ')

  return {
    name,
    family: Number(name.slice(1)) as Named['family'],
    scope: (['ours', 'loopback', 'private'] as const).find(scope => facts.includes(scope)) ?? 'public',
    worked: facts.includes('worked'),
    wasSilent: facts.includes('silent'),
    isUnroutable: facts.includes('unroutable')
  }
}

const ORDERS: Array<[title: string, given: string[], ranked: string]> = [
  ['as libp2p sorted them if nothing is known', ['b4', 'a4', 'c4'], 'b4 a4 c4'],
  ['of each family in turn, IPv6 first', ['a4', 'b4', 'c4', 'd6', 'e6'], 'd6 a4 e6 b4 c4'],
  ['with unix sockets and names of either family behind one of each family', ['a0', 'b4', 'c6', 'd0'], 'c6 b4 a0 d0'],
  ['with the address that worked last in front', ['a6', 'b4', 'c4 worked'], 'c4 a6 b4'],
  ['with the address that worked last in front, although it is a private one', ['a6', 'b4 private worked'], 'b4 a6'],
  ['with silent addresses last', ['a4 silent', 'b4', 'c4 private'], 'b4 c4 a4'],
  ['with silent addresses among one another as all others', ['a4 silent private', 'b4 silent', 'c6 silent'], 'c6 b4 a4'],
  ['with private addresses of other networks behind public ones', ['a4 private', 'b4', 'c6'], 'c6 b4 a4'],
  ['with private addresses of our networks among public ones', ['a4 ours', 'b4'], 'a4 b4'],
  ['with loopback addresses behind those of a network', ['a4 loopback', 'b4', 'c4 ours', 'd4 private'], 'b4 c4 a4 d4'],
  ['with a family that this host has no route to behind all others', ['a6 unroutable', 'b4', 'c4 private'], 'b4 c4 a6'],
  ['with a family that this host has no route to in front of silent addresses', ['a6 unroutable', 'b4 silent'], 'a6 b4'],
  ['of no peer', [], '']
]

describe('the order in which addresses of a peer are dialed', () => {
  for (const [title, given, ranked] of ORDERS) {
    it(`is ${title}`, () => {
      expect(rank(given.map(address), 250).map(({ name }) => name).join(' ')).to.equal(ranked)
    })
  }
})

const TIMES: Array<[count: number, delay: number, times: number[]]> = [
  [0, 250, []],
  [1, 250, [0]],
  [2, 250, [0, 250]],
  [3, 250, [0, 250, 500]],
  [5, 250, [0, 250, 480, 490, 500]],
  [3, 1_000, [0, 1_000, 2_000]],
  [5, 10, [0, 10, 16, 18, 20]]
]

describe('the times at which addresses of a peer are dialed', () => {
  for (const [count, delay, times] of TIMES) {
    it(`are ${times.join()} ms for ${count} addresses and a delay of ${delay} ms`, () => {
      expect(startTimes(count, delay)).to.deep.equal(times)
      expect(rank(Array.from({ length: count }, () => address('a4')), delay).map(({ at }) => at)).to.deep.equal(times)
    })
  }

  it('are those of the addresses that are left if there are too many', () => {
    expect(rank(['a4 silent', 'b4', 'c4', 'd4'].map(address), 250, 3).map(({ at, name }) => `${name} ${at}`)).to.deep.equal(['b4 0', 'c4 250', 'd4 500'])
  })

  it('never go back, and end after twice the delay, for as many addresses as a dial may have', () => {
    for (let count = 3; count <= 25; count++) {
      const times = startTimes(count, 250)

      expect(times).to.deep.equal(times.toSorted((a, b) => a - b))
      expect(times[2]).to.be.greaterThan(250)
      expect(times.at(-1)).to.equal(500)
    }
  })
})
