import { expect } from 'aegir/chai'
import { nextState } from '../../src/connection/close-state.ts'
import type { CloseEvent, CloseState } from '../../src/connection/close-state.ts'

const EVENTS: CloseEvent[] = ['upgrade', 'upgraded', 'overdue', 'close', 'fin', 'finish', 'timeout', 'abort', 'failure', 'reset', 'destroyed']

const STATES: CloseState[] = ['open', 'upgrading', 'held', 'draining', 'awaiting-fin', 'closed', 'aborted', 'reset']
const OVER: CloseState[] = ['closed', 'aborted', 'reset']

/** All states that a connection goes through, from `open` on */
function visited (events: CloseEvent[]): CloseState[] {
  const states: CloseState[] = ['open']

  events.forEach(event => { states.push(nextState(states[states.length - 1], event)) })

  return states
}

/** Every sequence of events of this length */
function sequences (length: number): CloseEvent[][] {
  return length === 0 ? [[]] : sequences(length - 1).flatMap(events => EVENTS.map(event => [...events, event]))
}

describe('the states of a close', () => {
  it('end a connection only once, and only as `closed` if everything was sent', () => {
    for (const events of sequences(5)) {
      const states = visited(events)
      const first = states.findIndex(state => OVER.includes(state))

      if (first >= 0) {
        expect(new Set(states.slice(first)), events.join()).to.have.property('size', 1)
      }

      if (states.includes('closed')) {
        expect(events, events.join()).to.include('finish').and.to.satisfy((all: CloseEvent[]) => all.includes('close') || all.includes('fin'))
        expect(states.indexOf('awaiting-fin'), events.join()).to.be.within(0, states.indexOf('closed'))
      }
    }
  })

  it('let this end give up at any time', () => {
    STATES.filter(state => !OVER.includes(state)).forEach(state => {
      expect(nextState(state, 'abort')).to.equal('aborted')
    })
  })

  it('are not changed by a reset or a failure once everything was sent', () => {
    expect(visited(['close', 'finish', 'reset', 'failure', 'overdue', 'fin']).at(-1)).to.equal('awaiting-fin')
    expect(visited(['fin', 'finish', 'reset', 'destroyed']).at(-1)).to.equal('closed')
  })

  it('tell a peer that has reset the connection from one that has ended it, but for an upgrade, which has to be aborted', () => {
    expect(visited(['reset']).at(-1)).to.equal('reset')
    expect(visited(['fin', 'reset']).at(-1)).to.equal('reset')
    expect(visited(['upgrade', 'reset']).at(-1)).to.equal('aborted')
    expect(visited(['upgrade', 'fin', 'reset']).at(-1)).to.equal('aborted')
  })

  it('hold back our end while the layers above are made, unless somebody closes', () => {
    expect(visited(['upgrade', 'fin']).at(-1)).to.equal('held')
    expect(visited(['upgrade', 'fin', 'upgraded']).at(-1)).to.equal('draining')
    expect(visited(['upgrade', 'fin', 'close']).at(-1)).to.equal('draining')
    expect(visited(['upgrade', 'fin', 'overdue']).at(-1)).to.equal('aborted')
    expect(visited(['upgrade', 'upgraded', 'overdue']).at(-1)).to.equal('open')
  })
})
