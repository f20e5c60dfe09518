import type { Attempt } from './attempt.ts'

/** How long the upgrade of a connection may take before others are tried too, in ms, if the peer has said nothing */
const MAX_MUTE = 1_000

/** ... and if it has */
const MAX_UPGRADE = 2_000

/** An address has had its time after this many ms: the kernel has sent several SYNs, and nothing came. go-libp2p waits as long */
const SILENCE = 5_000

/** One that was not needed any more counts as silent after this many ms: the kernel's second SYN, after a second, could have been answered */
const UNANSWERED = 2_000

/** Until when an upgrade is awaited before others are tried too, by the clock of `performance.now()` */
export function patienceUntil ({ connectedAt = 0, hasAnswered, since }: Pick<Attempt, 'connectedAt' | 'hasAnswered' | 'since'>, delay: number): number {
  const took = connectedAt - since

  // it may negotiate in full, or be busy
  if (hasAnswered) {
    return Math.min(since + Math.max(4 * delay, 10 * took), connectedAt + MAX_UPGRADE)
  }

  // two round trips after it has connected, a peer that is alive has answered
  return Math.min(since + Math.max(delay, 3 * took), connectedAt + MAX_MUTE)
}

/** Whether an attempt that is ended shows that its address is silent. A slow upgrade is no silence */
export function isSilent ({ hasAnswered, since, state }: Attempt): boolean {
  return performance.now() - since >= (state === 'upgrading' || hasAnswered ? SILENCE : UNANSWERED)
}

/** Whether an attempt has had its time when the race, which is so old, is aborted: the caller may have given up early */
export function hasHadItsTime ({ earlier, since }: Attempt, age: number): boolean {
  return earlier > 0 || performance.now() - since >= Math.min(SILENCE, age / 2)
}
