import { Option } from 'commander'
import { directory, listOf, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { namesIn } from '../../test/lab/peers/registry.ts'
import { RESULTS } from '../report/results.ts'
import type { SuiteName } from '../../test/lab/peers/contender.ts'
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

export function rivalsOption (suite: SuiteName, whyNotAll = ''): Option {
  const named = namesIn(suite, ({ onlyIfNamed }) => onlyIfNamed === true)

  return new Option('--rivals <list>', `only these: ${namesIn(suite).join(', ')} (default: all but ${named.join(' and ')}${whyNotAll})`)
    .argParser(listOf(oneOf(namesIn(suite))))
}

/**
 * What a reader types to make a result again: the script in package.json and the
 * flags that it was given.
 */
export function commandText (command: Command): string {
  const name = command.name()
  const typed = command.parent?.args ?? command.args
  const flags = typed[0] === name ? typed.slice(1) : typed

  return [
    name === 'connect' ? 'npm run benchmark' : `npm run benchmark:${name}`,
    ...(flags.length === 0 ? [] : ['--', ...flags])
  ].join(' ')
}
