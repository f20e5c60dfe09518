/*
 * A smoke test of the built package on Bun and Deno, alone and with Node at the other end.
 */
import path from 'node:path'
import { Command } from 'commander'
import { runProgram } from '../lab/process/program.ts'
import { runSuite } from '../lab/suite.ts'
import type { Program } from '../lab/process/program.ts'
import type { Cell } from '../lab/suite.ts'

const SCRIPT = path.join(import.meta.dirname, 'smoke.ts')
const TIMEOUT = 60_000

const RUNTIMES: Record<string, string[]> = { bun: ['bun'], deno: ['deno', 'run', '--allow-all'] }

await runSuite(new Command('suite runtimes'), async (_, signal) => {
  const start = (command: string[], ...args: string[]): Program => runProgram([...command, SCRIPT, ...args], { signal, timeout: TIMEOUT, env: { NODE_OPTIONS: '', NODE_NO_WARNINGS: '1', DENO_NO_UPDATE_CHECK: '1' } })

  async function pair (listener: string[], dialer: string[]): Promise<void> {
    const listening = start(listener, 'listen')

    try {
      const dialing = start(dialer, 'dial', await listening.nextLine(TIMEOUT))

      if (await dialing.ended !== 0) {
        throw new Error(dialing.complaint())
      }
    } finally {
      await listening.end()
    }
  }

  return {
    cells: Object.entries(RUNTIMES).map(([name, command]): Cell => ({
      name,
      async run () {
        const smoke = start(command)

        if (await smoke.ended !== 0) {
          throw new Error(`after "${smoke.lines.at(-1) ?? 'nothing'}": ${smoke.complaint()}`)
        }

        await pair([process.execPath], command)
        await pair(command, [process.execPath])

        return { summary: `${smoke.lines.length} features, and Node ${process.version} at either end` }
      }
    }))
  }
})
