/**
 * A wish that libp2p does not fulfil yet: the test passes as long as `wish` fails, with an error that `expected` matches. When it fails,
 * a release has cured the fault: take the row out of docs/upstream.md, and what works around it out of `src`. With `UPSTREAM=1` the wish
 * itself is the test.
 */
export function notYet (title: string, expected: RegExp, wish: () => Promise<void>): void {
  it(title, process.env.UPSTREAM == null ? async () => failsWith(expected, wish) : wish)
}

async function failsWith (expected: RegExp, wish: () => Promise<void>): Promise<void> {
  let error: any

  try {
    await wish()
  } catch (failure) {
    error = failure
  }

  if (error == null) {
    throw new Error('Cured upstream: see docs/upstream.md')
  }

  if (!expected.test(`${error.name}: ${error.message}`)) {
    throw error
  }
}
