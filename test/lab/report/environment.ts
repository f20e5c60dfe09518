import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { packageRoot } from '../script-path.ts'

/** What a figure depends on besides the packages */
export interface Environment {
  date: string

  /** What to type to make it again. */
  command: string

  /** As `git describe` names it, and whether code has changed since. Undefined outside of a clone. */
  commit?: string
  node: string
  kernel: string
  cpu: string
  cores: number
  memory: string

  /** Processes ready to run, averaged over the last minute. */
  load: number
}

/** What runs was built from */
let built: string | undefined

/** To be called before anything is measured: what is committed meanwhile is not what was measured. */
export function rememberCommit (): void {
  built ??= commit()
}

export function environment (command: string): Environment {
  rememberCommit()
  const cpus = os.cpus()

  return {
    date: new Date().toISOString(),
    command,
    commit: built,
    node: process.version,
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    cpu: cpus[0]?.model ?? 'unknown',
    cores: cpus.length,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    load: os.loadavg()[0]
  }
}

/** Where, when and how the figures of a page were made. */
export function provenance ({ command, date, commit, cpu, cores, memory, kernel, node, load }: Environment): string {
  return `\`${command}\` on ${date.slice(0, 10)}${commit == null ? '' : ` at ${commit}`}: ${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}, ${memory}, ${kernel}, Node ${node}, load ${load.toFixed(1)}.`
}

function commit (): string | undefined {
  try {
    const isClean = git('status', '--porcelain', '--', 'src', 'benchmarks', 'package-lock.json') === ''

    return `${git('describe', '--always')}${isClean ? '' : ', changed'}`
  } catch {
    // there need not be a git
  }
}

function git (...args: string[]): string {
  return execFileSync('git', args, { cwd: packageRoot(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
