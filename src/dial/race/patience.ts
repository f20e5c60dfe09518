import type { Attempt } from './entrant.ts'

/** How long the upgrade of a connection may take before other addresses are tried too, in ms, if the peer has said nothing */
const MAX_MUTE = 1_000

/** ... and if it has */
const MAX_UPGRADE = 2_000

/** A silent address has had its time after this many ms: the kernel has sent several SYNs, and nothing came. go-libp2p waits as long */
const SILENCE = 5_000

/** The address has connected, and is upgraded alone */
export function beginPatience (attempt: Attempt, delay: number): void {
  const now = performance.now()

  attempt.connected = now
  // two round trips after it has connected, a peer that is alive has answered
  attempt.lateAt = Math.min(attempt.since + Math.max(delay, 3 * (now - attempt.since)), now + MAX_MUTE)
}

/** Until when the upgrade is awaited before others are tried too. Undefined if it takes long */
export function patienceUntil (attempt: Attempt, delay: number): number | undefined {
  const { connected = 0, lateAt = 0, since, socket } = attempt

  if (performance.now() < lateAt - 0.5) {
    return lateAt
  }

  // it may negotiate in full, or be busy
  if (socket != null && socket.bytesRead > 0 && attempt.hasSpoken !== true) {
    attempt.hasSpoken = true
    attempt.lateAt = Math.min(since + Math.max(4 * delay, 10 * (connected - since)), connected + MAX_UPGRADE)

    return attempt.lateAt
  }
}

/** What an attempt that is under way shows of its address when the race, which is so old, is aborted */
export function judgeUnfinished (state: 'connecting' | 'upgrading', starts: number, { since }: Attempt, delay: number, age: number): { isSilent: boolean, isFailed: boolean } {
  const waited = performance.now() - since

  return {
    // the caller may have given up early, and a slow upgrade is no silence
    isSilent: waited >= (state === 'connecting' ? delay : SILENCE),
    isFailed: starts > 1 || waited >= Math.min(SILENCE, age / 2)
  }
}
