/*
 * Runs one program in one mode, and prints what came of it as a line of JSON:
 *
 *   node main.ts <program> <mode> [short]
 *
 * Exit code 1 if the program failed, left a handle behind, or Node warned.
 */
import { Lab } from './lab.ts'
import type { Facts, Mode, Program } from './lab.ts'

/** What is left after `stop()` may take this long to go, in ms */
const HANDLES_TIMEOUT = 5_000

/** Of the runtime, and not of what runs */
const EXPECTED_WARNINGS = ['ExperimentalWarning']

const [name, mode, scale] = process.argv.slice(2)
const complaints: string[] = []
const lab = new Lab(mode as Mode, scale === 'short')
let facts: Facts = {}

process.on('warning', warning => {
  if (!EXPECTED_WARNINGS.includes(warning.name)) {
    complaints.push(`warning ${warning.name}: ${warning.message}`)
  }
})
process.on('unhandledRejection', reason => { complaints.push(`unhandled rejection: ${textOf(reason)}`) })
process.on('uncaughtException', error => { complaints.push(`uncaught exception: ${textOf(error)}`) })

const { default: program }: { default: Program } = await import(`./${name}.ts`)

try {
  facts = await program(lab)
} catch (error) {
  complaints.push(`failed: ${textOf(error)}`)
}

try {
  await lab.stop()
} catch (error) {
  complaints.push(`stop failed: ${textOf(error)}`)
}

const stopped = performance.now()

// an event loop that has nothing to wait for emits 'beforeExit': no handle is left
process.once('beforeExit', end)

setTimeout(() => {
  complaints.push(`handles left after stop(): ${process.getActiveResourcesInfo().join(', ')}`)
  end()
}, HANDLES_TIMEOUT).unref()

function end (): void {
  process.exitCode = complaints.length === 0 ? 0 : 1
  process.stdout.write(`${JSON.stringify({
    facts,
    complaints: [...new Set(complaints)],
    wall: lab.wall,
    cpu: lab.cpu,
    drained: performance.now() - stopped
  })}\n`, () => process.exit())
}

function textOf (error: any): string {
  const text = error?.stack ?? `${error}`
  const causes = error?.cause == null ? '' : ` because of ${textOf(error.cause)}`
  const errors = (error?.errors ?? []).map((error: unknown) => ` of ${textOf(error)}`).join('')

  return `${text}${errors}${causes}`
}
