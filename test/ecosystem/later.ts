import { STACK } from './report.ts'
import type { ProgramName } from './programs.ts'
import type { Results } from './report.ts'

/**
 * The results of a whole run, in which some programs are replaced by what they did later.
 *
 * @throws {Error} if what all programs have in common is of another version
 */
export function withLater (whole: Results, again: Results, programs: ProgramName[]): Results {
  const changed = STACK.find(name => whole.versions[name] !== again.versions[name])

  if (changed != null) {
    throw new Error(`${changed} is ${again.versions[changed]}, and ${whole.versions[changed]} in the whole run`)
  }

  const isKept = (program: string): boolean => !programs.includes(program as ProgramName)
  const rounds = Array.from({ length: Math.max(whole.rounds.length, again.rounds.length) }, (_, i) => [
    ...whole.rounds[i]?.filter(({ program }) => isKept(program)) ?? [],
    ...again.rounds[i] ?? []
  ])
  const skipped = Object.fromEntries(Object.entries(whole.skipped ?? {}).filter(([program]) => isKept(program)))
  const earlier = whole.later?.map(({ programs, environment }) => ({ programs: programs.filter(isKept), environment })) ?? []

  return {
    ...whole,
    versions: { ...whole.versions, ...again.versions },
    skipped: { ...skipped, ...again.skipped },
    rounds,
    later: [...earlier.filter(({ programs }) => programs.length > 0), { programs, environment: again.environment }]
  }
}
