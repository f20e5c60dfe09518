import { TypedEventEmitter } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { expect } from 'aegir/chai'
import { KnownProtocols } from '../../src/optimistic/known-protocols.ts'
import { ECHO } from './fixtures/stacks.ts'
import type { KnownProtocolsComponents } from '../../src/optimistic/known-protocols.ts'
import type { Libp2pEvents, PeerId, StreamMuxer } from '@libp2p/interface'

const MAX_ABSENT = 1_000
const HOUR = 60 * 60_000

describe('what peers are known to speak', () => {
  let now = 0

  function setUp (): { known: KnownProtocols, connect(peer: number, status?: string): StreamMuxer, identify(peer: number, protocols?: string[]): void, disconnect(peer: number): void } {
    const events = new TypedEventEmitter<Libp2pEvents>()
    const known = new KnownProtocols({ events, peerStore: {} as unknown as KnownProtocolsComponents['peerStore'] }, defaultLogger().forComponent('test'), () => now)
    const idOf = (peer: number): PeerId => ({ toString: () => `peer ${peer}` }) as unknown as PeerId
    const connections = new Map<number, unknown>()
    const tell = (type: keyof Libp2pEvents, detail: unknown): void => { events.safeDispatchEvent(type, { detail }) }

    return {
      known,
      connect (peer, status = 'open') {
        const streams: StreamMuxer['streams'] = []
        const connection = { streams, remotePeer: idOf(peer), status }

        connections.set(peer, connection)
        tell('connection:open', connection)

        return { streams } as unknown as StreamMuxer
      },
      identify: (peer, protocols = [ECHO]) => { tell('peer:identify', { peerId: idOf(peer), protocols }) },
      disconnect: peer => { tell('connection:close', connections.get(peer)) }
    }
  }

  it('is remembered for every connected peer', () => {
    const { known, connect, identify } = setUp()
    const muxers = Array.from({ length: 2 * MAX_ABSENT }, (_, peer) => connect(peer))
    muxers.forEach((_, peer) => { identify(peer) })

    expect(muxers.every(muxer => known.has(muxer, ECHO))).to.be.true()
  })

  it(`is remembered for the ${MAX_ABSENT} peers that left last`, () => {
    const { known, connect, identify, disconnect } = setUp()

    for (let peer = 0; peer <= MAX_ABSENT; peer++) {
      connect(peer)
      identify(peer)
      disconnect(peer)
    }

    expect(known.has(connect(0), ECHO)).to.be.false()
    expect(known.has(connect(1), ECHO)).to.be.true()
    expect(known.has(connect(MAX_ABSENT), ECHO)).to.be.true()
  })

  it('is remembered for an hour after a peer has left: it may return with other software', () => {
    const { known, connect, identify, disconnect } = setUp()
    connect(1)
    identify(1)
    now += 2 * HOUR
    connect(1)
    disconnect(1)
    expect(known.has(connect(1), ECHO)).to.be.true()
    disconnect(1)
    disconnect(1)

    now += HOUR - 1
    expect(known.has(connect(1), ECHO)).to.be.true()
    disconnect(1)
    now += HOUR
    const muxer = connect(1)
    expect(known.has(muxer, ECHO)).to.be.false()
    identify(1)
    expect(known.has(muxer, ECHO)).to.be.true()
  })

  it('is remembered for a peer with another connection, however many leave', () => {
    const { known, connect, identify, disconnect } = setUp()
    const stays = connect(-1)

    identify(-1)
    connect(-1)
    disconnect(-1)

    for (let peer = 0; peer <= MAX_ABSENT; peer++) {
      connect(peer)
      identify(peer)
      disconnect(peer)
    }

    expect(known.has(stays, ECHO)).to.be.true()
  })

  it('stays as it was where identify names none', () => {
    const { known, connect, identify } = setUp()
    const muxer = connect(1)

    identify(1)
    identify(1, [])
    expect(known.has(muxer, ECHO)).to.be.true()
  })

  it('is what identify named last', () => {
    const { known, connect, identify } = setUp()
    const muxer = connect(1)

    known.add(muxer, '/test/old/1.0.0')
    expect(known.has(muxer, '/test/old/1.0.0')).to.be.true()
    identify(1)
    expect(known.has(muxer, '/test/old/1.0.0')).to.be.false()
    expect(known.has(muxer, ECHO)).to.be.true()
  })

  it('is no more than a few hundred names of a peer, however many it tells', () => {
    const { known, connect, identify } = setUp()
    const muxer = connect(1)
    const names = Array.from({ length: 1_000 }, (_, i) => `/test/${i}/1.0.0`)

    identify(1, names)
    expect(names.filter(name => known.has(muxer, name)).length).to.be.within(200, 256)
    expect(known.has(muxer, names[0])).to.be.true()

    identify(1, ['x'.repeat(80 * 1_024), ECHO])
    expect(known.has(muxer, ECHO)).to.be.false()

    known.add(muxer, ECHO)
    expect(known.has(muxer, ECHO)).to.be.true()
  })

  it('is no more than that either of what was agreed on, and what was last is known', () => {
    const { known, connect } = setUp()
    const muxer = connect(1)
    const names = Array.from({ length: 1_000 }, (_, i) => `/test/${i}/1.0.0`)

    names.forEach(name => { known.add(muxer, name) })

    const kept = names.filter(name => known.has(muxer, name))
    expect(kept).to.deep.equal(names.slice(-kept.length))
    expect(kept.length).to.be.within(200, 256)

    known.add(muxer, kept[0])
    expect(names.filter(name => known.has(muxer, name))).to.deep.equal(kept)

    known.add(muxer, 'x'.repeat(80 * 1_024))
    expect(names.some(name => known.has(muxer, name))).to.be.false()
  })

  it('is not kept for a peer that was never there, or had left before', () => {
    const { known, connect, identify, disconnect } = setUp()

    identify(1)
    expect(known.has(connect(1), ECHO)).to.be.false()

    disconnect(1)
    identify(1)
    expect(known.has(connect(1), ECHO)).to.be.false()

    connect(2, 'closed')
    identify(2)
    expect(known.has(connect(2), ECHO)).to.be.false()
  })
})
