import { scaleCommand } from './command.ts'

await scaleCommand.parseAsync()
