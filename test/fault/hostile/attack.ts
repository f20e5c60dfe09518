import { runChild } from '../../fixtures/child.ts'
import { until } from '../../fixtures/waiting.ts'
import type { Attack, Attacked } from './attacker.ts'
import type { Defer } from '../../fixtures/cleanup.ts'

/**
 * Starts an attack in a process of its own, so that it costs this one nothing but
 * what it sends. Returns a function that tells what has become of it.
 */
export async function attack (defer: Defer, what: Attack): Promise<() => Promise<Attacked>> {
  const status = beginAttack(defer, what)

  await until(async () => (await status()).connected === what.connections, 'all attackers are connected', 30_000)

  return status
}

/** The same without waiting until all are connected */
export function beginAttack (defer: Defer, what: Attack): () => Promise<Attacked> {
  const child = runChild(defer, '../../fault/hostile/attacker.ts', [what])

  return async () => {
    child.tell('status')

    return child.says()
  }
}
