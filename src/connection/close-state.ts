/**
 * How far a connection has ended. libp2p's `status` has one name, `closing`, for
 * `draining` and `awaiting-fin`.
 *
 * - `open`: nobody has begun to close it
 * - `draining`: it closes, but the kernel does not have all that `send` accepted, and FIN, yet
 * - `awaiting-fin`: the kernel has all of it, FIN included; the peer's FIN is awaited
 * - `closed`: after everything was sent
 * - `aborted`: by this end, or by a failure of the socket
 * - `reset`: by the peer
 */
export type CloseState = 'open' | 'draining' | 'awaiting-fin' | 'closed' | 'aborted' | 'reset'

/**
 * What may change the state.
 *
 * - `close`: somebody closes the connection, or the peer has sent FIN
 * - `finish`: the kernel has taken our FIN
 * - `timeout`: the peer's FIN was awaited for long enough
 * - `abort`: this end gives up
 * - `failure`: the socket failed, or was inactive for too long, or the peer took nothing of what was sent
 * - `reset`: the peer has sent RST
 * - `destroyed`: the socket is closed
 */
export type CloseEvent = 'close' | 'finish' | 'timeout' | 'abort' | 'failure' | 'reset' | 'destroyed'

const TRANSITIONS: Record<CloseState, Record<CloseEvent, CloseState>> = {
  open: {
    close: 'draining',
    finish: 'open',
    timeout: 'open',
    abort: 'aborted',
    failure: 'aborted',
    reset: 'reset',
    destroyed: 'aborted'
  },
  draining: {
    close: 'draining',
    finish: 'awaiting-fin',
    timeout: 'draining',
    abort: 'aborted',
    failure: 'aborted',
    reset: 'reset',
    destroyed: 'aborted'
  },
  'awaiting-fin': {
    close: 'awaiting-fin',
    finish: 'awaiting-fin',
    timeout: 'closed',
    abort: 'aborted',
    // nothing can be lost any more, and the wait has a bound of its own
    failure: 'awaiting-fin',
    // go-libp2p resets every connection that it closes: as good as its FIN
    reset: 'awaiting-fin',
    destroyed: 'closed'
  },
  closed: always('closed'),
  aborted: always('aborted'),
  reset: always('reset')
}

export function nextState (state: CloseState, event: CloseEvent): CloseState {
  return TRANSITIONS[state][event]
}

function always (state: CloseState): Record<CloseEvent, CloseState> {
  return { close: state, finish: state, timeout: state, abort: state, failure: state, reset: state, destroyed: state }
}
