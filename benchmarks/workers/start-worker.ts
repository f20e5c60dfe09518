import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Reply, Request, Tasks } from './serve.ts'
import type { ChildProcess } from 'node:child_process'

export interface Worker<T extends Tasks> {
  pid: number

  /**
   * Rejects with what the worker says, or when it ends.
   */
  ask<Name extends string & keyof T>(task: Name, ...parameters: Parameters<T[Name]>): Promise<Awaited<ReturnType<T[Name]>>>

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

const EXIT_TIMEOUT = 3_000

/**
 * Workers and the process that each is, which is not the child where it is run
 * under another command
 */
const running = new Map<ChildProcess, number | undefined>()

/**
 * Runs a script that calls `serve` in a process of its own.
 */
export async function startWorker<T extends Tasks> ({ script, args, execArgv = [], under = [] }: WorkerInit): Promise<Worker<T>> {
  const [file, ...rest] = [...under, process.execPath, ...execArgv, script, ...args]
  const child = spawn(file, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ready = Promise.withResolvers<number>()
  const pending = new Map<number, PromiseWithResolvers<any>>()
  const name = `worker ${args.join(' ')}`
  let ended: Error | undefined
  let requests = 0

  running.set(child, undefined)

  child.on('message', (reply: Reply) => {
    if (reply.type === 'ready') {
      running.set(child, reply.pid)
      ready.resolve(reply.pid)
      return
    }

    const waiting = pending.get(reply.id)
    pending.delete(reply.id)

    if (reply.type === 'failed') {
      waiting?.reject(new Error(`${name}: ${reply.reason}`))
    } else {
      waiting?.resolve(reply.result)
    }
  })
  child.once('error', fail)
  child.once('exit', (code, signal) => { fail(new Error(`${name} ended with ${signal ?? `code ${code}`}`)) })

  function fail (err: Error): void {
    ended = err
    running.delete(child)
    ready.reject(err)
    pending.forEach(({ reject }) => { reject(err) })
    pending.clear()
  }

  return {
    pid: await ready.promise,

    async ask (task, ...parameters) {
      if (ended != null) {
        throw ended
      }

      const request: Request = { id: requests++, task, parameters }
      const waiting = Promise.withResolvers<any>()
      pending.set(request.id, waiting)
      child.send(request, err => {
        if (err != null) {
          waiting.reject(err)
        }
      })

      return waiting.promise
    },

    end: async () => endProcess(child)
  }
}

/**
 * A worker ends when its channel closes; one that hangs is killed.
 */
async function endProcess (child: ChildProcess): Promise<void> {
  if (!running.has(child)) {
    return
  }

  const exited = once(child, 'exit')
  const timer = setTimeout(() => { kill(child) }, EXIT_TIMEOUT)

  if (child.connected) {
    child.disconnect()
  }

  await exited
  clearTimeout(timer)
}

/**
 * Kills every worker that still runs.
 */
export function killWorkers (): void {
  [...running.keys()].forEach(kill)
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

process.once('exit', killWorkers)
