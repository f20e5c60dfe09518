/**
 * How far a connection has ended. libp2p's `status` has one name, `open`, for `open` and `upgrading`, and one,
 * `closing`, for `held`, `draining` and `awaiting-fin`.
 *
 * - `upgrading`: libp2p makes the layers above
 * - `held`: the peer has sent FIN meanwhile. What came before it is for a muxer that may not exist yet, and the muxer
 * answers it: our own FIN waits until the upgrade is done
 * - `open`: nobody has begun to close it
 * - `draining`: it closes, but the kernel does not have all that `send` accepted, and FIN, yet
 * - `awaiting-fin`: the kernel has all of it, FIN included; the peer's FIN is awaited
 * - `closed`: after everything was sent
 * - `aborted`: by this end, or by a failure of the socket
 * - `reset`: by the peer
 */
export type CloseState = 'upgrading' | 'held' | 'open' | 'draining' | 'awaiting-fin' | 'closed' | 'aborted' | 'reset'

/**
 * What may change the state.
 *
 * - `upgrade`, `upgraded`: libp2p begins to make the layers above, and has made them or failed
 * - `overdue`: the upgrade has gone on for too long after the peer's FIN
 * - `close`: somebody closes the connection
 * - `fin`: the peer has sent FIN
 * - `finish`: the kernel has taken our FIN
 * - `timeout`: the peer's FIN was awaited for long enough
 * - `abort`: this end gives up
 * - `failure`: the socket failed, or was inactive for too long, or the peer took nothing of what was sent
 * - `reset`: the peer has sent RST
 * - `destroyed`: the socket is closed
 */
export type CloseEvent = 'upgrade' | 'upgraded' | 'overdue' | 'close' | 'fin' | 'finish' | 'timeout' | 'abort' | 'failure' | 'reset' | 'destroyed'

/** Other events change nothing */
const TRANSITIONS: Record<CloseState, Partial<Record<CloseEvent, CloseState>>> = {
  open: { upgrade: 'upgrading', close: 'draining', fin: 'draining', abort: 'aborted', failure: 'aborted', reset: 'reset', destroyed: 'aborted' },
  // A muxer that is made after the end of its connection throws where nobody can catch the error. An abort makes the
  // layers below it drop what they have read
  upgrading: { upgraded: 'open', overdue: 'aborted', close: 'draining', fin: 'held', abort: 'aborted', failure: 'aborted', reset: 'aborted', destroyed: 'aborted' },
  held: { upgraded: 'draining', overdue: 'aborted', close: 'draining', abort: 'aborted', failure: 'aborted', reset: 'aborted', destroyed: 'aborted' },
  draining: { overdue: 'aborted', finish: 'awaiting-fin', abort: 'aborted', failure: 'aborted', reset: 'reset', destroyed: 'aborted' },
  // Nothing can be lost any more, and the wait has a bound of its own: a failure changes nothing. Nor does a reset, with
  // which go-libp2p closes every connection: it is as good as FIN
  'awaiting-fin': { timeout: 'closed', abort: 'aborted', destroyed: 'closed' },
  closed: {},
  aborted: {},
  reset: {}
}

export function nextState (state: CloseState, event: CloseEvent): CloseState {
  return TRANSITIONS[state][event] ?? state
}
