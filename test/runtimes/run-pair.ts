import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { ENDS, FEATURES } from './features.ts'
import type { Kind } from './kit.ts'

/** The error of each feature, or undefined where it works */
export type PairResult = Array<string | undefined>

/** For all features of a pair, in ms */
const TIMEOUT = 300_000

/** A process that has nothing left to do ends within this, in ms */
const END_TIMEOUT = 10_000

const root = path.resolve(import.meta.dirname, '../..')

/** Tries every feature with a dialer and a listener whose runtimes are started with these commands */
export async function runPair (kind: Kind, dialer: string[], listener: string[], signal: AbortSignal): Promise<PairResult> {
  const [file, ...args] = listener
  const listening = spawn(file, [...args, path.join(import.meta.dirname, 'listener.ts'), kind], { cwd: root, env: environment(), stdio: ['pipe', 'pipe', 'ignore'] })

  try {
    const [line] = await once(createInterface({ input: listening.stdout }), 'line', { signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]) })
    const { port } = JSON.parse(line)
    const results: PairResult = FEATURES.map(() => 'not tried: the process ended before')

    for (const title of [undefined, ENDS]) {
      const timeout = title == null ? TIMEOUT : END_TIMEOUT
      const [file, ...args] = dialer
      const { stdout, timedOut } = await execa(file, [...args, path.join(import.meta.dirname, 'dialer.ts'), kind, `${port}`, ...title == null ? [] : [title]], {
        cwd: root,
        env: environment(),
        extendEnv: false,
        stdin: 'ignore',
        timeout,
        cancelSignal: signal,
        killSignal: 'SIGKILL',
        reject: false
      })

      for (const line of stdout.split('\n').filter(line => line.startsWith('{"feature"'))) {
        const { feature, error } = JSON.parse(line)

        results[feature] = error
      }

      if (title != null && timedOut) {
        results[FEATURES.findIndex(feature => feature.title === title)] ??= `did not end within ${END_TIMEOUT / 1_000} s`
      }
    }

    return results
  } finally {
    listening.kill('SIGKILL')
  }
}

function environment (): NodeJS.ProcessEnv {
  const { NODE_OPTIONS, DEBUG, ...env } = process.env

  return { ...env, NODE_NO_WARNINGS: '1', DENO_NO_UPDATE_CHECK: '1' }
}
