import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { SiblingFinder } from '../../../src/dial/siblings.ts'
import { turns } from '../../fixtures/bytes.ts'
import { somePeerId } from './fixtures/addresses.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/*
 * What libp2p does in a dial is tested with libp2p in nodes.spec.ts. These are the orders in which its calls may come
 */
describe('the addresses that belong to one dial', () => {
  let finder: SiblingFinder
  let peer: string
  let other: string

  beforeEach(async () => {
    finder = new SiblingFinder();
    [peer, other] = await Promise.all([somePeerId(), somePeerId()])
  })

  const at = (port: number, peer: string): Multiaddr => multiaddr(`/ip4/45.0.0.1/tcp/${port}/p2p/${peer}`)

  /** The transport manager asks once more, and then dials */
  function dial (ma: Multiaddr): Multiaddr[] | undefined {
    finder.ask(ma)

    return finder.take(ma)?.addresses
  }

  it('are those that libp2p asked about in one turn, for each of them', async () => {
    const all = [at(1, peer), at(2, peer), at(3, peer)]
    all.forEach(ma => { finder.ask(ma) })
    await Promise.resolve()

    expect(dial(all[1])).to.deep.equal(all)
    await Promise.resolve()
    expect(dial(all[0])).to.deep.equal(all)
  })

  it('are none if libp2p asked about one', async () => {
    const ma = at(1, peer)
    finder.ask(ma)
    await Promise.resolve()

    expect(dial(ma)).to.equal(undefined)
  })

  it('are none for who dials without having asked', () => {
    expect(dial(at(1, peer))).to.equal(undefined)
    expect(dial(at(2, peer))).to.equal(undefined)
  })

  it('are those of the same peer where two dials begin in one turn', async () => {
    const some = [at(1, peer), at(2, peer)]
    const others = [at(1, other), at(2, other)]
    const lone = at(3, await somePeerId());
    [...some, lone, ...others].forEach(ma => { finder.ask(ma) })
    await Promise.resolve()

    expect(dial(some[0])).to.deep.equal(some)
    expect(dial(others[0])).to.deep.equal(others)
    expect(dial(lone)).to.equal(undefined)
  })

  it('are none without a peer id: nobody would notice a stranger', async () => {
    const all = [multiaddr('/ip4/45.0.0.1/tcp/1'), multiaddr('/ip4/45.0.0.1/tcp/2')]
    all.forEach(ma => { finder.ask(ma) })
    await Promise.resolve()

    expect(dial(all[0])).to.equal(undefined)
  })

  it('are none for an object that is equal but another, and two such dials prove nothing of libp2p', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => { warnings.push(warning) }

    process.on('warning', onWarning)

    for (let i = 0; i < 2; i++) {
      finder.ask(at(1, peer))
      finder.ask(at(2, peer))
      await Promise.resolve()

      expect(dial(at(1, peer))).to.equal(undefined)
    }

    // warnings are emitted in the next turn
    await turns(1)
    process.off('warning', onWarning)
    expect(warnings).to.be.empty()
  })

  it('are those of the last dial where objects serve for several', async () => {
    const [a, b, c] = [at(1, peer), at(2, peer), at(3, peer)];
    [a, b].forEach(ma => { finder.ask(ma) })
    await Promise.resolve();
    [a, c].forEach(ma => { finder.ask(ma) })
    await Promise.resolve()
    expect(dial(a)).to.deep.equal([a, c])
    await Promise.resolve()

    finder.ask(a)
    await Promise.resolve()
    expect(dial(a)).to.equal(undefined)
  })

  it('do not change while one of them is dialed in the turn in which another dial begins', async () => {
    const some = [at(1, peer), at(2, peer)]
    some.forEach(ma => { finder.ask(ma) })
    await Promise.resolve()

    const others = [at(1, other), at(2, other)]
    finder.ask(others[0])
    expect(dial(some[0])).to.deep.equal(some)
    finder.ask(others[1])
    await Promise.resolve()

    expect(dial(others[0])).to.deep.equal(others)
    expect(dial(some[1])).to.deep.equal(some)
  })
})
