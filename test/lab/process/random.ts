/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seededRandom (seed: number): () => number {
  let state = seed >>> 0

  return () => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)

    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The items in random order (Fisher and Yates). */
export function shuffled <T> (items: readonly T[], random: () => number): T[] {
  const order = [...items]

  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other], order[last]]
  }

  return order
}
