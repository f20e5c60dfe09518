import { execa } from 'execa'

export interface Test {
  fullTitle: string
  err: { message?: string }
}

/** What mocha's JSON reporter tells */
export interface SpecReport {
  passes: Test[]
  failures: Test[]
  pending: Test[]
}

export interface SpecOptions {
  cwd: string
  env?: Record<string, string>

  /** Of each test, in ms */
  timeout?: number
  args?: string[]
  signal?: AbortSignal
}

/** A file of tests that wait for what never comes ends with this, in ms */
const FILE_TIMEOUT = 300_000

/** Runs spec files in a process of their own. A process that ends before its report is one failure */
export async function runSpecs (files: string[], { cwd, env, timeout = 60_000, args = [], signal }: SpecOptions): Promise<SpecReport> {
  const { stdout, stderr, timedOut } = await execa('mocha', [...files, '--no-parallel', '--ui', 'bdd', '--timeout', `${timeout}`, '--reporter', 'json', '--exit', ...args], {
    cwd,
    preferLocal: true,
    localDir: import.meta.dirname,
    env: { NODE_ENV: 'test', NODE_OPTIONS: '--no-warnings', ...env },
    timeout: FILE_TIMEOUT * files.length,
    cancelSignal: signal,
    // tests that fail are what this is about
    reject: false
  })
  const start = stdout.indexOf('{\n  "stats"')

  if (start >= 0) {
    return JSON.parse(stdout.slice(start))
  }

  const message = timedOut ? 'does not end' : `ends its process: ${stderr.split('\n').find(line => line.includes('Error')) ?? stderr}`

  return { passes: [], failures: [{ fullTitle: files.join(), err: { message } }], pending: [] }
}
