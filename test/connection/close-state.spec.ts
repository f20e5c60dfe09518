import { expect } from 'aegir/chai'
import { nextState } from '../../src/connection/close-state.ts'
import type { CloseEvent, CloseState } from '../../src/connection/close-state.ts'

const EVENTS: CloseEvent[] = ['upgrade', 'upgraded', 'overdue', 'close', 'fin', 'finish', 'timeout', 'abort', 'failure', 'reset', 'destroyed']

/** What changes the state; all other events do not */
const CHANGES: Record<CloseState, Partial<Record<CloseEvent, CloseState>>> = {
  open: { upgrade: 'upgrading', close: 'draining', fin: 'draining', abort: 'aborted', failure: 'aborted', reset: 'reset', destroyed: 'aborted' },
  upgrading: { upgraded: 'open', overdue: 'aborted', close: 'draining', fin: 'held', abort: 'aborted', failure: 'aborted', reset: 'aborted', destroyed: 'aborted' },
  held: { upgraded: 'draining', overdue: 'aborted', close: 'draining', abort: 'aborted', failure: 'aborted', reset: 'aborted', destroyed: 'aborted' },
  draining: { overdue: 'aborted', finish: 'awaiting-fin', abort: 'aborted', failure: 'aborted', reset: 'reset', destroyed: 'aborted' },
  'awaiting-fin': { timeout: 'closed', abort: 'aborted', destroyed: 'closed' },
  closed: {},
  aborted: {},
  reset: {}
}

const STATES = Object.keys(CHANGES) as CloseState[]
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
  for (const state of STATES) {
    for (const event of EVENTS) {
      const expected = CHANGES[state][event] ?? state

      it(`${state} is ${expected} after ${event}`, () => {
        expect(nextState(state, event)).to.equal(expected)
      })
    }
  }

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
})
