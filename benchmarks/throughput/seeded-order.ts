/**
 * Random numbers from 0 to 1 that are the same for the same seed (mulberry32).
 */
export function seededRandom (seed: number): () => number {
  let state = seed >>> 0

  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)

    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * A new list with the same items in random order (Fisher and Yates).
 */
export function shuffled<T> (items: readonly T[], random: () => number): T[] {
  const list = [...items]

  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]]
  }

  return list
}
