import { readFileSync } from 'node:fs'

/** What a process needs besides its connections */
const SPARE = 200

/** Why a process cannot have as many connections, if it cannot. */
export function whyTooMany (count: number): string | undefined {
  const limit = descriptorLimit()

  return count + SPARE > limit ? `a process may have ${limit} file descriptors (see ulimit -n)` : undefined
}

/** Node raises its limit to the hard one when it starts. */
function descriptorLimit (): number {
  try {
    return parseLimits(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return Infinity
  }
}

export function parseLimits (limits: string): number {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1]

  return hard == null || hard === 'unlimited' ? Infinity : Number(hard)
}
