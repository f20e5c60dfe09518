/** Names of contenders at the connection level */
export const STACKS = ['net', 'official', 'ours'] as const

export type StackName = typeof STACKS[number]

/**
 * - `spaced`: writes a few milliseconds apart, so that no two are one in the
 * same tick of the event loop
 * - `tick`: all writes in one tick
 */
export type Pace = 'spaced' | 'tick'

export interface NagleCase {
  id: string
  stack: StackName

  /**
   * The `noDelay` that is asked for: TCP_NODELAY, which turns Nagle's algorithm
   * off.
   */
  noDelay: boolean
  pace: Pace
}

/** Every stack with Nagle's algorithm, without it, and without it in one tick. */
export const CASES: NagleCase[] = STACKS.flatMap(stack => [
  { id: `${stack}-nagle`, stack, noDelay: false, pace: 'spaced' },
  { id: `${stack}-nodelay`, stack, noDelay: true, pace: 'spaced' },
  { id: `${stack}-tick`, stack, noDelay: true, pace: 'tick' }
])
