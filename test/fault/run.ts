/*
 * Does to a transport what networks, peers and operating systems do to it, and checks what it promises. Each scenario has a process of its
 * own.
 */
import path from 'node:path'
import { Command } from 'commander'
import { listOf, numberFrom, oneOf } from '../lab/arguments.ts'
import { runProgram } from '../lab/process/program.ts'
import { say } from '../lab/process/say.ts'
import { short } from '../lab/report/numbers.ts'
import { runSuite } from '../lab/suite.ts'
import { suites } from './suites.ts'
import type { Scenario, Suite, Told } from './scenario.ts'
import type { Cell, Verdict } from '../lab/suite.ts'

interface Flags {
  suite: string[]
  transports: string[]
  scale: number
}

const NAMES = suites.map(({ name }) => name)
const TRANSPORTS = ['ours', 'linux', 'fast-open', 'reuse-port', 'official']

/** When a process is killed that has done everything and lives on, in ms */
const LAST_RESORT = 5_000

await runSuite<Flags>(new Command('suite fault')
  .option('--suite <names>', NAMES.join(), listOf(oneOf(NAMES)), NAMES)
  .option('--transports <names>', `${TRANSPORTS.join()}; fast-open needs a net.ipv4.tcp_fastopen of 3`, listOf(oneOf(TRANSPORTS)), ['ours'])
  .option('--scale <factor>', 'this many times as many runs', numberFrom(0), 1), async ({ suite: names, transports, scale, seed }, signal) => {
  const cells: Cell[] = []

  for (const suite of suites.filter(({ name }) => names.includes(name))) {
    const missing = await suite.missing?.()

    if (missing == null) {
      cells.push(...suite.scenarios.flatMap(scenario => transports.filter(name => name !== 'official' || scenario.isOursAlone !== true).map((transport): Cell => ({
        name: `${suite.name}: ${scenario.name}${transport === 'ours' ? '' : `, ${transport}`}`,
        sampled: scenario.takesMinutes === true ? 'never' : undefined,
        run: async () => runScenario(suite, scenario, transport, seed, Math.max(1, Math.round(scenario.runs * scale)), signal)
      }))))
    } else if (process.env.CI == null) {
      say(`SKIPPED ${suite.name}: ${missing}`)
    } else {
      throw new Error(`${suite.name} cannot be run, and this is CI: ${missing}`)
    }
  }

  return { cells }
})

/** Official may break a promise: the table shows how often */
async function runScenario (suite: Suite, scenario: Scenario, transport: string, seed: number, runs: number, signal: AbortSignal): Promise<Verdict> {
  const command = [process.execPath, '--expose-gc', '--no-warnings=ExperimentalWarning', path.join(import.meta.dirname, 'child.ts'), suite.name, scenario.name, `${seed}`, `${runs}`]
  const child = runProgram(command, { signal, stderr: 'inherit', env: { ...scenario.env, TRANSPORT: transport } })
  const worst: Record<string, number> = {}
  const broken = new Map<string, number>()
  const unhealthy: string[] = []
  let [faults, kept] = [0, 0]
  let isDone = false

  for (;;) {
    const told: Told | undefined = await child.nextLine(isDone ? LAST_RESORT : scenario.timeout).catch(() => undefined)

    if (told == null) {
      break
    } else if (told.type === 'done') {
      isDone = true
    } else if (told.type === 'unhealthy') {
      unhealthy.push(told.what)
    } else {
      faults += told.faults
      Object.entries(told.measured).forEach(([name, value]) => { worst[name] = Math.max(worst[name] ?? -Infinity, value) })

      if (told.error == null) {
        kept++
      } else {
        const kind = told.error.split('\n')[0].replaceAll(/\d[\d,.]*/g, 'N')
        broken.set(kind, (broken.get(kind) ?? 0) + 1)
      }
    }
  }

  if (child.complaint() === '') {
    unhealthy.push(isDone ? 'had to be killed' : `hung for ${scenario.timeout} ms`)
    // it takes its own children with it, if it still can
    await child.end()
  } else if (!isDone) {
    unhealthy.push(child.complaint())
  }

  const complaints = [...[...broken].map(([what, times]) => `${times} times ${what}`), ...unhealthy]
  const measured = Object.entries(worst).map(([name, value]) => `${name} ${short(value)}`)

  return {
    summary: [`kept ${kept} of ${runs}`, `${faults} faults`, ...measured, ...transport === 'official' ? complaints : []].join(', '),
    complaints: transport === 'official' ? [] : complaints,
    raw: { kept, runs, faults, worst, complaints }
  }
}
