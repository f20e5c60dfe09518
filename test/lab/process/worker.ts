import { readFileSync } from 'node:fs'
import { execa } from 'execa'
import { unlessStopping, withCleanUp } from './interrupt.ts'
import type { Reply, Request, Tasks } from './serve.ts'

export interface WorkerInit {
  script: string
  args?: string[]
  name: string
  execArgv?: string[]

  /** A command that runs the worker, such as strace and its options. */
  under?: string[]

  /** Runs in a process group of its own: Ctrl-C does not reach it before us, and it lives on until it has ended by itself. */
  detached?: boolean

  /** Where to list it while it runs, for `endWorkers` */
  group?: WorkerGroup

  /** Gets what the worker tells without having been asked. */
  onTold?(message: any): void
}

/** A process that runs a script which calls `serve` */
export interface Worker<T extends Tasks> {
  /** Of the worker itself, also where a command runs it. */
  pid: number

  /** Rejects with what the worker says, or when it ends. */
  ask<Name extends string & keyof T>(task: Name, ...parameters: Parameters<T[Name]>): Promise<Awaited<ReturnType<T[Name]>>>
  end(): Promise<void>
}

interface Running {
  subprocess: ReturnType<typeof spawn>

  /** Undefined until the worker tells it. */
  pid?: number
  detached: boolean
}

export type WorkerGroup = Set<Running>

const EXIT_TIMEOUT = 3_000
const PATIENCE = 30_000

const everyone: WorkerGroup = new Set()

/** Runs a script that calls `serve` in a process of its own. */
export async function startWorker<T extends Tasks> (init: WorkerInit): Promise<Worker<T>> {
  await unlessStopping()

  const { name, detached = false, group, onTold } = init
  const running: Running = { subprocess: spawn(init), detached }
  const { subprocess } = running
  const ready = Promise.withResolvers<number>()
  const pending = new Map<number, PromiseWithResolvers<any>>()
  let ended: Error | undefined
  let requests = 0

  everyone.add(running)
  group?.add(running)

  subprocess.on('message', (message: any) => {
    const reply: Reply = message

    if (reply.type === 'ready') {
      ready.resolve(reply.pid)
    } else if (reply.type === 'done') {
      take(reply.id)?.resolve(reply.result)
    } else if (reply.type === 'failed') {
      take(reply.id)?.reject(new Error(`${name}: ${reply.reason}`))
    } else {
      onTold?.(message)
    }
  })

  void subprocess.then(({ exitCode, signal, cause }) => {
    everyone.delete(running)
    group?.delete(running)
    ended = new Error(`${name} ended with ${signal ?? `code ${exitCode}`}`, { cause })
    ready.reject(ended)
    pending.forEach(({ reject }) => { reject(ended) })
    pending.clear()
  })

  // throws at once where the channel is closed
  async function send (request: Request): Promise<void> {
    await subprocess.sendMessage(request as any)
  }

  function take (id: number): PromiseWithResolvers<any> | undefined {
    const waiting = pending.get(id)
    pending.delete(id)

    return waiting
  }

  running.pid = await ready.promise

  return {
    pid: running.pid,

    async ask (task, ...parameters) {
      if (ended != null) {
        throw ended
      }

      const id = requests++
      const waiting = Promise.withResolvers<any>()
      pending.set(id, waiting)
      send({ id, task, parameters }).catch(waiting.reject)

      return waiting.promise
    },

    end: async () => end(running)
  }
}

/** Runs a function that starts workers. None is left, whatever happens. */
export async function withWorkers <T> (fn: () => Promise<T>): Promise<T> {
  return withCleanUp(async () => endWorkers(everyone), fn)
}

/** Also those that are not ready yet. */
export async function endWorkers (group: WorkerGroup): Promise<void> {
  await Promise.all([...group].map(end))
}

function spawn ({ script, args = [], execArgv = [], under = [], detached = false }: WorkerInit) { // eslint-disable-line @typescript-eslint/explicit-function-return-type
  const [file, ...rest] = [...under, process.execPath, ...execArgv, script, ...args]

  return execa(file, rest, {
    ipc: true,
    serialization: 'json',
    // what waits to be read would grow with every message
    buffer: false,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    detached,
    // a worker ends when its channel closes
    cleanup: false,
    reject: false
  })
}

/** A worker ends when its channel closes; one that hangs is killed */
async function end (running: Running): Promise<void> {
  const { subprocess, detached } = running
  // one that is detached has to clean up before
  const timer = setTimeout(() => { kill(running) }, detached ? PATIENCE : EXIT_TIMEOUT)

  if (subprocess.connected) {
    subprocess.disconnect()
  }

  await subprocess
  clearTimeout(timer)
}

/** The worker itself before the command it is run under: strace ends with what it traces, but not the other way round. */
function kill ({ pid, subprocess }: Running): void {
  // one that still loads its modules, slowly where strace traces it, has not told its pid yet
  for (const worker of pid == null ? childrenOf(subprocess.pid) : [pid]) {
    try {
      process.kill(worker, 'SIGKILL')
    } catch {
      // it has ended
    }
  }

  subprocess.kill('SIGKILL')
}

function childrenOf (pid?: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(text => text !== '').map(Number)
  } catch {
    // it has ended, or this is not Linux
    return []
  }
}

process.once('exit', () => { [...everyone].filter(({ detached }) => !detached).forEach(kill) })
