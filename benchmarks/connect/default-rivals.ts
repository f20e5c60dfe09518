import { rivals } from '../rivals/registry.ts'
import type { Rival } from '../rivals/rival.ts'

/**
 * A listener of ours on another machine answers nobody else
 */
const REMOTE_RIVALS = ['official', 'recipe', 'transport', 'ours']

/**
 * Who is timed where nobody is named.
 */
export function defaultRivals ({ isRemote = false }: { isRemote?: boolean } = {}): Rival[] {
  return rivals.filter(({ name, onlyIfNamed = false }) => isRemote ? REMOTE_RIVALS.includes(name) : !onlyIfNamed)
}
