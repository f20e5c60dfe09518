import { runChild } from '../../fixtures/child.ts'
import { within } from '../../fixtures/waiting.ts'
import type { Child } from '../../fixtures/child.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { Run } from '../scenario.ts'

/** Where the remote, which is a plain TCP peer, is killed */
export type RawState = 'dialing' | 'connected' | 'half-closed' | 'closing' | 'lingering'

/** Where the remote, which is a libp2p node, is killed */
export type NodeState = 'noise' | 'muxer' | 'idle' | 'sending' | 'receiving'

export const PROTOCOL = '/test/kill/1.0.0'

/** A killed process is gone, and its kernel has told, after this many ms */
export const LIMIT = 1_000

/** For what comes before the kill, on a busy machine */
export const PATIENCE = 30_000

export function runRemote (defer: Defer, kind: 'raw' | 'node', state: RawState | NodeState): Child {
  return runChild(defer, `../../fault/kill/${kind}-remote.ts`, [state])
}

/**
 * @throws {Error} unless what is awaited happens soon after the remote was killed
 */
export async function expectSoonAfterKill (remote: Child, { injected, measured }: Run, what: string, happens: Promise<unknown>): Promise<void> {
  const start = performance.now()

  remote.kill()
  injected()
  await within(PATIENCE, what, happens)

  const ms = performance.now() - start
  measured('ms', ms)

  if (ms > LIMIT) {
    throw new Error(`${what} took ${ms} ms`)
  }
}
