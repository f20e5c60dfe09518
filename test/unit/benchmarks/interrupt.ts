import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ownerOf } from '../../lab/link/namespaces.ts'
import { packageRoot } from '../../lab/script-path.ts'

export interface Remains {
  status: number | null

  /** How many processes there were at that moment */
  ran: number

  /** What was left: command lines, file names, and namespaces and devices */
  processes: string[]
  files: string[]
  namespaces: string[]
}

const POLL = 25

/** What SIGKILL leaves must be gone so many ms later */
const KILLED_GRACE = 10_000

/**
 * Ends a benchmark with a signal once it says something, and looks for what it has left.
 * All processes below it inherit a mark in their environment.
 */
export async function interrupt (args: string[], signal: NodeJS.Signals, says: RegExp): Promise<Remains> {
  const mark = `${process.pid}-${performance.now()}`
  const directory = await mkdtemp(path.join(os.tmpdir(), 'fast-tcp-interrupt-'))
  const benchmark = spawn(process.execPath, [path.join(packageRoot(), 'benchmarks/cli.ts'), ...args, '--out', path.join(directory, 'results')], {
    env: { ...process.env, FAST_TCP_MARK: mark, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const exited = once(benchmark, 'exit')
  let said = ''
  const hear = (chunk: unknown): void => { said += String(chunk) }
  benchmark.stdout.on('data', hear)
  benchmark.stderr.on('data', hear)

  try {
    while (!says.test(said)) {
      if (benchmark.exitCode != null) {
        throw new Error(`It ended before: ${said}`)
      }

      await wait(POLL)
    }

    const pids = processesMarked(mark)
    benchmark.kill(signal)
    const [status] = await exited
    const until = performance.now() + KILLED_GRACE

    if (signal === 'SIGKILL') {
      // its helpers need a moment to notice
      while (processesMarked(mark).length > 0 && performance.now() < until) {
        await wait(POLL)
      }
    }

    return {
      status,
      ran: pids.length,
      processes: processesMarked(mark).map(pid => readProcess(pid, 'cmdline').replaceAll('\0', ' ')),
      files: await readdir(directory),
      namespaces: ['/run/netns', '/sys/class/net']
        .flatMap(directory => existsSync(directory) ? readdirSync(directory) : [])
        .filter(name => pids.includes(`${ownerOf(name)}`))
    }
  } finally {
    benchmark.kill('SIGKILL')
    await rm(directory, { recursive: true })
  }
}

function processesMarked (mark: string): string[] {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name) && readProcess(name, 'environ').includes(`FAST_TCP_MARK=${mark}`))
}

/** Nothing of a process that has ended meanwhile */
function readProcess (pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
