import { environment } from '../../test/lab/report/environment.ts'
import { commandText } from '../command-line/options.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'
import type { Report } from '../series.ts'
import type { Command } from 'commander'

/** A report of what has just been measured */
export function reportOf (benchmark: string, command: Command, { contenders, ...parts }: Pick<Report, 'seed' | 'notes' | 'series'> & { contenders: Contender[] }): Report {
  return {
    benchmark,
    ...environment(commandText(command)),
    rivals: contenders.map(({ level, name, title, versions }) => ({ name: `${name}, ${level}`, title, versions: versions() })),
    ...parts
  }
}
