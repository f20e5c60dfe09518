import { withCleanUp } from '../process/interrupt.ts'
import { say } from '../process/say.ts'
import { rememberCommit } from '../report/environment.ts'
import type { Command } from 'commander'

export interface SuiteContext {
  /** Aborted by the first signal that asks the process to end */
  signal: AbortSignal

  /** What to type to do the same, with the seed that was chosen */
  command: string

  /** What to type to run one cell of it: the same with these options, and nothing is sampled or written */
  again(choice: object): string
}

/** Options that have no part in how a cell goes */
const WHOLE_RUN = { sample: undefined, out: undefined, keep: undefined, write: undefined, add: undefined }

/**
 * Parses the command line and runs a suite. Its exit code is 1 if something did not go as promised, and that of the
 * signal if one ended it.
 *
 * @param command - with its options; its name is that of the npm script
 * @param main - returns what did not go as promised, and returns or throws soon after the signal
 */
export async function runSuite <Flags extends object> (command: Command, main: (flags: Flags, context: SuiteContext) => Promise<string[]>): Promise<void> {
  const controller = new AbortController()
  const ended = Promise.withResolvers<void>()
  const flags = command.parse().opts<Flags>()

  rememberCommit()

  await withCleanUp(async () => {
    controller.abort()
    await ended.promise
  }, async () => {
    try {
      const complaints = await main(flags, {
        signal: controller.signal,
        command: commandLine(command, { out: undefined }),
        again: choice => commandLine(command, { ...WHOLE_RUN, ...choice })
      })

      complaints.forEach(say)
      process.exitCode = complaints.length === 0 ? 0 : 1
    } finally {
      ended.resolve()
    }
  })
}

function commandLine (command: Command, changed: Record<string, unknown> = {}): string {
  const values: Record<string, unknown> = { ...command.opts(), ...changed }
  const args = command.options.flatMap(option => {
    const name = option.attributeName()
    const value = values[name]
    const isDefault = command.getOptionValueSource(name) === 'default' && !(name in changed) && name !== 'seed'

    if (value == null || isDefault || value === option.negate) {
      return []
    }

    return typeof value === 'boolean' ? [option.long] : [option.long, quoted(`${value}`)]
  })

  return [`npm run ${command.name()}`, ...args.length === 0 ? [] : ['--', ...args]].join(' ')
}

function quoted (text: string): string {
  return /^[\w.,:/@-]+$/.test(text) ? text : `'${text}'`
}
