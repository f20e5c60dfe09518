import { expect } from 'aegir/chai'
import { MAX_UNANSWERED_STREAMS } from '../../src/libp2p.ts'
import { StreamGate } from '../../src/yamux/stream-gate.ts'
import { turns } from '../fixtures/bytes.ts'

describe('the gate for streams of a connection', () => {
  function fullGate (): StreamGate {
    const gate = new StreamGate(Object.assign(new EventTarget(), { status: 'open' }))

    enterAll(gate)

    return gate
  }

  function enterAll (gate: StreamGate): number {
    let entered = 0

    while (entered < 1_000 && gate.tryEnter()) {
      entered++
    }

    return entered
  }

  it('lets those that wait in, in order, before any other', async () => {
    const gate = fullGate()
    const order: number[] = []
    const waiting = [1, 2, 3].map(async i => gate.enter().then(() => { order.push(i) }))

    gate.answered()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3])
    expect(gate.tryEnter()).to.be.true()
  })

  it('gives the place of one that gave up, or ended without an answer, to the next', async () => {
    const gate = fullGate()

    gate.answered()
    enterAll(gate)

    const controller = new AbortController()
    const given = gate.enter(controller.signal)
    let entered = false
    void gate.enter().then(() => { entered = true })

    controller.abort(new Error('enough'))
    await expect(given).to.eventually.be.rejectedWith('enough')
    gate.abandoned()
    await turns(2)
    expect(entered).to.be.true()
    expect(gate.tryEnter()).to.be.false()
  })

  it('counts an answered stream no more', () => {
    const gate = fullGate()

    gate.answered()
    enterAll(gate)

    for (let i = 0; i < MAX_UNANSWERED_STREAMS; i++) {
      gate.answered()
    }

    expect(enterAll(gate)).to.equal(MAX_UNANSWERED_STREAMS)
  })
})
