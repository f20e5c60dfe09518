/**
 * How much memory the known names of a peer may take, in bytes. A name beyond that costs
 * a round trip for each stream, as if it was not known.
 */
const MAX_NAMES = 16 * 1024

/** Roughly what a name costs beside its characters */
const NAME_OVERHEAD = 64

/** The names from the first on, as many as may be remembered */
export function firstOf (names: string[]): Set<string> {
  const first = new Set<string>()
  let cost = 0

  for (const name of names) {
    cost += costOf(name)

    if (cost > MAX_NAMES) {
      break
    }

    first.add(name)
  }

  return first
}

/** Add a name; the oldest ones make room for it */
export function withName (names: Set<string>, name: string): Set<string> {
  if (names.has(name)) {
    return names
  }

  names.add(name)
  let cost = [...names].reduce((sum, name) => sum + costOf(name), 0)

  for (const oldest of names) {
    if (cost <= MAX_NAMES) {
      break
    }

    names.delete(oldest)
    cost -= costOf(oldest)
  }

  return names
}

function costOf (name: string): number {
  return name.length + NAME_OVERHEAD
}
