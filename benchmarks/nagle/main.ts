import { nagleCommand } from './command.ts'

await nagleCommand.parseAsync().catch((err: Error) => {
  // eslint-disable-next-line no-console
  console.error(err.message)
  process.exitCode = 1
})
