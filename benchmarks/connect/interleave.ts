import { shuffled } from '../run/random.ts'
import type { Contender } from './contenders.ts'
import type { Sample } from '../rivals/rival.ts'

export interface InterleaveOptions {
  runs: number

  /**
   * Runs before the first that counts: the first dial of a process compiles what
   * it runs.
   */
  warmUps: number
  random(): number
  onRun?(contender: Contender, sample: Sample | undefined): void
}

/**
 * One dial of one rival
 */
export interface Run {
  rival: string

  /**
   * Counted from 1; 0 and below are warm-ups.
   */
  run: number
  sample?: Sample

  /**
   * Why there is no sample.
   */
  failure?: string
}

/**
 * Times every contender once in each round, in an order that changes from round
 * to round, so that a slow spell of the machine hits them all.
 */
export async function interleave (contenders: Contender[], options: InterleaveOptions): Promise<Run[]> {
  const runs: Run[] = []

  for (let run = 1 - options.warmUps; run <= options.runs; run++) {
    for (const contender of shuffled(contenders, options.random)) {
      const rival = contender.rival.name
      let sample: Sample | undefined

      try {
        sample = await contender.dial()
        runs.push({ rival, run, sample })
      } catch (err: any) {
        runs.push({ rival, run, failure: err.message })
      }

      options.onRun?.(contender, sample)
    }
  }

  return runs
}
