import { numberFrom, wholeFrom } from '../arguments.ts'
import { seededRandom, shuffled } from '../process/random.ts'
import type { Command } from 'commander'

/** What is typed to run a part of a suite */
export interface Choice {
  only?: string
  sample: number
  seed: number
}

export function withChoice (command: Command): Command {
  return command
    .option('--only <name>', 'the cell with this name, or those that have it in their name')
    .option('--sample <share>', 'of the cells, chosen by the seed; 1 for all', numberFrom(0), 1)
    .option('--seed <number>', 'makes a choice again', wholeFrom(0), Date.now() % 2 ** 31)
}

/**
 * In their order. `isSampled` tells which are left to chance.
 *
 * @throws {Error} if there is none with such a name
 */
export function choose <T> (cells: T[], nameOf: (cell: T) => string, { only = '', sample, seed }: Choice, isSampled: (cell: T) => boolean = () => true): T[] {
  const exact = cells.filter(cell => nameOf(cell) === only)
  const named = exact.length > 0 ? exact : cells.filter(cell => nameOf(cell).includes(only))

  if (named.length === 0) {
    throw new Error(`No cell has "${only}" in its name`)
  }

  const toSample = named.filter(isSampled)
  const left = sample < 1 ? shuffled(toSample, seededRandom(seed)).slice(Math.ceil(toSample.length * sample)) : []

  return named.filter(cell => !left.includes(cell))
}
