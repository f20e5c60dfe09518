/**
 * How much memory the known names of a peer may take, in bytes. Streams of a protocol beyond
 * that cost a round trip, as if the protocol was not known.
 */
const MAX_NAMES = 16 * 1024

/** About what a name takes beside its characters, in bytes */
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
