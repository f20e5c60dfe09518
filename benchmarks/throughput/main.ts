import { throughputCommand } from './command.ts'

await throughputCommand.parseAsync()
