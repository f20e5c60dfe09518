import type { Reply, Request, Tasks } from './serve.ts'
import type { ChildProcess } from 'node:child_process'

/**
 * A process that runs a script which calls `serve`
 */
export interface Worker<T extends Tasks> {
  /**
   * Of the worker, which is not the child where that is a command which runs it.
   */
  pid: number

  /**
   * Rejects with what the worker says, or when it ends.
   */
  ask<Name extends string & keyof T>(task: Name, ...parameters: Parameters<T[Name]>): Promise<Awaited<ReturnType<T[Name]>>>
}

/**
 * Waits until a child process serves.
 *
 * @param child - just spawned, with a channel
 * @param name - for errors
 */
export async function workerOf<T extends Tasks> (child: ChildProcess, name: string): Promise<Worker<T>> {
  const ready = Promise.withResolvers<number>()
  const pending = new Map<number, PromiseWithResolvers<any>>()
  let ended: Error | undefined
  let requests = 0

  child.on('message', (reply: Reply) => {
    if (reply.type === 'ready') {
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
    }
  }
}
