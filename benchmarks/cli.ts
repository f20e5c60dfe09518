import { Command } from 'commander'
import { withWorkers } from '../test/lab/process/worker.ts'
import { rememberCommit } from '../test/lab/report/environment.ts'
import { addressesCommand } from './addresses/command.ts'
import { allCommand } from './all/command.ts'
import { compareCommand } from './compare/command.ts'
import { connectCommand } from './connect/command.ts'
import { loadCommand } from './load/command.ts'
import { nagleCommand } from './nagle/command.ts'
import { readmeCommand } from './readme/command.ts'
import { scaleCommand } from './scale/command.ts'
import { throughputCommand } from './throughput/command.ts'

const program = new Command('npm run benchmark --')
  .description('Measures this TCP transport beside others.')
  .addCommand(connectCommand, { isDefault: true })
  .addCommand(nagleCommand)
  .addCommand(throughputCommand)
  .addCommand(scaleCommand)
  .addCommand(loadCommand)
  .addCommand(addressesCommand)
  .addCommand(allCommand)
  .addCommand(readmeCommand)
  .addCommand(compareCommand)
  // --help goes to the program: show what its default takes as well
  .addHelpText('after', () => `\n${connectCommand.helpInformation()}`)
  .hook('preAction', rememberCommit)

const suites = program.commands.map(command => command.name())
const [first = ''] = process.argv.slice(2)

// the default would take it for an argument of its own
if (!first.startsWith('-') && !['', 'help', ...suites].includes(first)) {
  program.error(`error: unknown suite '${first}'. There are ${suites.join(', ')}.`)
}

// no process is left, whatever happens
await withWorkers(async () => program.parseAsync()).catch((err: Error) => {
  // eslint-disable-next-line no-console
  console.error(err.message)
  process.exitCode = 1
})
