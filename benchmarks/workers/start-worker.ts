import { spawn } from 'node:child_process'
import { unlessStopping, withCleanUp } from '../run/interrupt.ts'
import { endChild } from './end-child.ts'
import { workerOf } from './worker.ts'
import type { Tasks } from './serve.ts'
import type { Worker } from './worker.ts'
import type { ChildProcess } from 'node:child_process'

export interface OwnWorker<T extends Tasks> extends Worker<T> {
  end(): Promise<void>
}

export interface WorkerInit {
  script: string
  args: string[]

  /**
   * Options for Node.
   */
  execArgv?: string[]

  /**
   * A command that runs the worker, such as strace and its options.
   */
  under?: string[]
}

/**
 * Workers and the process that each is, undefined until it says so
 */
const running = new Map<ChildProcess, number | undefined>()

/**
 * Runs a script that calls `serve` in a process of its own.
 */
export async function startWorker<T extends Tasks> ({ script, args, execArgv = [], under = [] }: WorkerInit): Promise<OwnWorker<T>> {
  await unlessStopping()

  const [file, ...rest] = [...under, process.execPath, ...execArgv, script, ...args]
  const child = spawn(file, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

  running.set(child, undefined)
  child.once('error', () => running.delete(child))
  child.once('exit', () => running.delete(child))

  const worker = await workerOf<T>(child, `worker ${args.join(' ')}`)
  running.set(child, worker.pid)

  return { ...worker, end: async () => endChild(child, () => { kill(child) }) }
}

/**
 * Runs a function that starts workers. None is left, whatever happens.
 */
export async function withWorkers <T> (fn: () => Promise<T>): Promise<T> {
  return withCleanUp(async () => {
    await Promise.all([...running.keys()].map(async child => endChild(child, () => { kill(child) })))
  }, fn)
}

/**
 * The worker itself before the command it is run under: strace ends with what it
 * traces, but not the other way round.
 */
function kill (child: ChildProcess): void {
  const pid = running.get(child)

  try {
    if (pid != null && pid !== child.pid) {
      process.kill(pid, 'SIGKILL')
    }
  } catch {
    // it has ended
  }

  child.kill('SIGKILL')
}

process.once('exit', () => { [...running.keys()].forEach(kill) })
