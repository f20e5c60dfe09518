import type { Defer } from '../fixtures/cleanup.ts'

/**
 * Faults that belong together. Importing a suite starts nothing.
 */
export interface Suite {
  name: string

  /**
   * What holds whatever happens, in words for a table
   */
  promise: string

  scenarios: Scenario[]

  /**
   * Makes what its scenarios need, and says what this machine lacks for it, if it
   * lacks something. That is an error in CI; elsewhere the suite is left out.
   */
  missing?(): Promise<string | undefined>
}

export interface Scenario {
  name: string

  /**
   * How often it is run, each time against new connections
   */
  runs: number

  /**
   * How many runs go on at the same time, by default 1
   */
  concurrency?: number

  /**
   * Even one run takes minutes: only a full run has it
   */
  takesMinutes?: true

  /**
   * Where only one transport can be asked for this
   */
  transports?: TransportName[]

  /**
   * After so many ms without a finished run the scenario hangs
   */
  timeout: number

  /**
   * What its process is started with besides the environment of the suite
   */
  env?: Record<string, string>

  /**
   * Sets up what all runs share, and returns what does one run. A run that throws
   * has broken the promise.
   */
  prepare(context: Context): Promise<(run: Run) => Promise<void>>
}

export interface Context {
  /**
   * How many runs there will be
   */
  runs: number

  /**
   * What is to be done after all runs, last in first out. What throws here has
   * broken the promise too: a look at what is left open belongs here.
   */
  defer: Defer

  /**
   * The same numbers from 0 to 1 for the same seed
   */
  random(): number
}

export interface Run {
  /**
   * Counts from 0
   */
  index: number

  /**
   * What is to be done after this run
   */
  defer: Defer

  /**
   * Counts what was done to a connection that would be hard on it
   */
  injected(faults?: number): void

  /**
   * A number that the table shows the worst of
   */
  measured(name: string, value: number): void
}

/** `linux`, `fast-open` and `reuse-port` are ours with these options; the second needs `net.ipv4.tcp_fastopen` of 3 */
export type TransportName = 'ours' | 'linux' | 'fast-open' | 'reuse-port' | 'official'

/**
 * What one scenario did to one transport
 */
export interface Outcome {
  transport: TransportName
  suite: string
  scenario: string
  runs: number
  kept: number
  faults: number

  /**
   * Runs that broke the promise, by what they said, with numbers left out
   */
  broken: Record<string, number>

  /**
   * The highest of each number
   */
  worst: Record<string, number>

  /**
   * What the process did that no process may do: crash, hang, warn, not end
   */
  unhealthy: string[]
  seconds: number

  /** That was run, as `git describe` names it */
  commit?: string
}
