import type { Command } from 'commander'

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
