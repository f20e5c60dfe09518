import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { packageRoot } from '../script-path.ts'
import type { Contender } from '../contenders/contender.ts'

/**
 * What a figure needs around it to be worth anything.
 */
export function describeRun (contenders: Contender[]): Record<string, unknown> {
  const [cpu] = os.cpus()

  return {
    date: new Date().toISOString(),
    command: process.argv.slice(1).join(' '),
    commit: commit(),
    node: process.version,
    v8: process.versions.v8,
    kernel: `${os.type()} ${os.release()} ${os.machine()}`,
    cpu: cpu?.model ?? 'unknown',
    cores: os.cpus().length,
    memory: os.totalmem(),
    load: os.loadavg(),
    rivals: contenders.map(contender => ({
      level: contender.level,
      name: contender.name,
      title: contender.title,
      versions: contender.versions()
    }))
  }
}

function commit (): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: packageRoot(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    // not from a clone
  }
}
