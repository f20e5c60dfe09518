import type { Defer } from '../fixtures/cleanup.ts'

/** Faults that belong together. Importing a suite starts nothing */
export interface Suite {
  name: string

  /** What holds whatever happens */
  promise: string
  scenarios: Scenario[]

  /** Says what this machine lacks for its scenarios, if it lacks something */
  missing?(): Promise<string | undefined>
}

export interface Scenario {
  name: string

  /** How often it is run, each time against new connections */
  runs: number

  /** How many runs go on at the same time, by default 1 */
  concurrency?: number

  /** Even one run takes minutes: only a full run has it */
  takesMinutes?: true

  /** Where official cannot be asked for this */
  isOursAlone?: true

  /** After so many ms without a finished run the scenario hangs */
  timeout: number

  /** What its process is started with besides the environment of the suite */
  env?: Record<string, string>

  /** Sets up what all runs share, and returns what does one run. A run that throws has broken the promise */
  prepare(context: Context): Promise<(run: Run) => Promise<void>>
}

export interface Context {
  /** How many runs there will be */
  runs: number

  /**
   * What is to be done after all runs, last in first out. What throws here has broken the promise too: a look at what is left open belongs
   * here
   */
  defer: Defer

  /** The same numbers from 0 to 1 for the same seed */
  random(): number
}

export interface Run {
  /** Counts from 0 */
  index: number

  /** What is to be done after this run */
  defer: Defer

  /** Counts what was done to a connection that would be hard on it */
  injected(faults?: number): void

  /** A number that the table shows the worst of */
  measured(name: string, value: number): void
}

/** What the process of a scenario tells */
export type Told =
  { type: 'run', error?: string, faults: number, measured: Record<string, number> } |
  { type: 'unhealthy', what: string } |
  { type: 'done' }
