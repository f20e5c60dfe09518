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

interface Past {
  state: CloseState
  isSent: boolean
  isEnding: boolean
}

/** What a connection may have behind it, whatever events come in whatever order */
function pasts (): Past[] {
  const all = new Map<string, Past>()

  function go (past: Past): void {
    const key = JSON.stringify(past)

    if (!all.has(key)) {
      all.set(key, past)
      EVENTS.forEach(event => {
        go({
          state: nextState(past.state, event),
          isSent: past.isSent || event === 'finish',
          isEnding: past.isEnding || event === 'close' || event === 'fin'
        })
      })
    }
  }

  go({ state: 'open', isSent: false, isEnding: false })

  return [...all.values()]
}

describe('the states of a close', () => {
  it('end a connection only once, and only as `closed` if everything was sent', () => {
    for (const past of pasts()) {
      const next = new Set(EVENTS.map(event => nextState(past.state, event)))
      const what = JSON.stringify(past)

      if (OVER.includes(past.state)) {
        expect([...next], what).to.deep.equal([past.state])
      } else if (next.has('closed')) {
        expect(past, what).to.deep.equal({ state: 'awaiting-fin', isSent: true, isEnding: true })
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
