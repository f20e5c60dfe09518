/** Takes events until none is left */
export async function drain (events: AsyncIterable<unknown>): Promise<void> {
  await some(events, () => false)
}

/** Takes events until one of them is such a one */
export async function some <T> (events: AsyncIterable<T>, isIt: (event: T) => boolean): Promise<boolean> {
  for await (const event of events) {
    if (isIt(event)) {
      return true
    }
  }

  return false
}
