import { expect } from 'aegir/chai'
import { MAX_EARLY_STREAMS, MAX_UNANSWERED_STREAMS } from '../../src/libp2p.ts'
import { StreamGate } from '../../src/yamux/stream-gate.ts'
import { turns } from '../fixtures/bytes.ts'

describe('the gate for streams of a connection', () => {
  function enterAll (gate: StreamGate): number {
    let entered = 0

    while (entered < 1_000 && gate.tryEnter()) {
      entered++
    }

    return entered
  }

  function connection (status = 'open'): EventTarget & { status: string } {
    return Object.assign(new EventTarget(), { status })
  }

  it('lets as many in as a peer takes before it is ready', () => {
    expect(enterAll(new StreamGate(connection()))).to.equal(MAX_EARLY_STREAMS)
  })

  it('lets as many in as may be unanswered once the peer has answered', () => {
    const gate = new StreamGate(connection())
    enterAll(gate)
    gate.answered()

    expect(enterAll(gate)).to.equal(MAX_UNANSWERED_STREAMS - MAX_EARLY_STREAMS + 1)
  })

  it('counts streams that ended before the peer was ready', () => {
    const gate = new StreamGate(connection())

    for (let i = enterAll(gate); i > 0; i--) {
      gate.abandoned()
    }

    expect(gate.tryEnter()).to.be.false()
  })

  it('lets those that wait in, in order, before any other', async () => {
    const gate = new StreamGate(connection())
    const order: number[] = []
    enterAll(gate)
    const waiting = [1, 2, 3].map(async i => gate.enter().then(() => { order.push(i) }))

    gate.answered()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3])
    expect(gate.tryEnter()).to.be.true()
  })

  it('gives the place of one that gave up to the next', async () => {
    const gate = new StreamGate(connection())
    const controller = new AbortController()
    enterAll(gate)
    const given = gate.enter(controller.signal)
    let entered = false
    void gate.enter().then(() => { entered = true })

    controller.abort(new Error('enough'))
    await expect(given).to.eventually.be.rejectedWith('enough')
    await turns(2)
    expect(entered).to.be.false()
    gate.answered()
    await turns(2)
    expect(entered).to.be.true()
  })

  it('keeps nobody when the connection is over', async () => {
    const over = connection()
    const gate = new StreamGate(over)
    enterAll(gate)
    const waiting = [gate.enter(), gate.enter()]

    over.dispatchEvent(new Event('close'))
    await Promise.all(waiting)
  })

  it('keeps nobody who comes when the connection is over', async () => {
    const gate = new StreamGate(connection('closed'))
    enterAll(gate)

    await Promise.all([gate.enter(), gate.enter()])
  })
})
