import { Option } from 'commander'
import { directory, listOf, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { namesIn, selectContenders } from '../../test/lab/peers/registry.ts'
import { RESULTS } from '../report/results.ts'
import type { Contender, Level, SuiteName } from '../../test/lab/peers/contender.ts'
import type { Command } from 'commander'

export function outOption (): Option {
  return new Option('--out [directory]', 'also write JSON, Markdown and charts; without a directory into benchmarks/results, which git ignores')
    .argParser(directory)
    .preset(RESULTS)
}

export function seedOption (): Option {
  return new Option('--seed <n>', 'for the order of the runs')
    .argParser(wholeFrom(0))
    .default(Math.floor(Math.random() * 1e6), 'a new one each time')
}

export function rivalsOption (suite: SuiteName): Option {
  const named = namesIn(suite, ({ onlyIfNamed }) => onlyIfNamed === true)

  return new Option('--rivals <list>', `only these: ${namesIn(suite).join(', ')} (default: all${named.length === 0 ? '' : ` but ${named.join(' and ')}`})`)
    .argParser(listOf(oneOf(namesIn(suite))))
}

export async function prepareRivals (suite: SuiteName, wanted: { levels?: Level[], rivals?: string[] }): Promise<Prepared> {
  return prepareContenders(selectContenders(suite, wanted))
}

interface Prepared {
  contenders: Contender[]
  notes: string[]
}

/** Installs or builds what is not there yet. One for which that fails is left out, and noted. */
export async function prepareContenders (wanted: Contender[]): Promise<Prepared> {
  const contenders: Contender[] = []
  const notes: string[] = []

  for (const contender of wanted) {
    try {
      // eslint-disable-next-line no-console
      await contender.prepare?.(message => { console.error(message) })
      contenders.push(contender)
    } catch (err: any) {
      notes.push(`Left out: ${contender.name}, ${err.shortMessage ?? err.message}`)
    }
  }

  return { contenders, notes }
}

/** Commands that have a script of their own */
const ALIASES = ['nagle', 'throughput', 'load', 'readme']

/**
 * What a reader types to make a result again: the script in package.json and the
 * flags that it was given.
 */
export function commandText (command: Command): string {
  const name = command.name()
  const typed = command.parent?.args ?? command.args
  const flags = typed[0] === name ? typed.slice(1) : typed

  if (name === 'connect' || ALIASES.includes(name)) {
    return [`npm run benchmark${name === 'connect' ? '' : `:${name}`}`, ...flags.length === 0 ? [] : ['--', ...flags]].join(' ')
  }

  return ['npm run benchmark --', name, ...flags].join(' ')
}
