/**
 * What the names that are known of a peer may cost to remember, in bytes. A name
 * beyond that costs a round trip a stream, as if it was not known.
 */
const MAX_NAMES = 16 * 1024

/** What a name costs beside its characters, about */
const NAME_OVERHEAD = 64

/** As many of the names as may be remembered, from the first on */
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

/** Add a name; those that have been there for longest make room for it */
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
