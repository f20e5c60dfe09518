import { on } from 'node:events'
import { scriptPath } from '../script-path.ts'
import { workerOf } from '../workers/worker.ts'
import type { StackName } from './cases.ts'
import type { Arrival, EndTasks } from './end.ts'
import type { Link, LinkEnd } from '../link/link.ts'
import type { Worker } from '../workers/worker.ts'
import type { ChildProcess } from 'node:child_process'

export interface EndProcess extends Worker<EndTasks> {
  /**
   * Resolves to the next arrivals, once they are so many bytes together. Rejects
   * after a timeout in milliseconds.
   */
  arrival(bytes: number, timeout: number): Promise<Arrival[]>
}

/**
 * Starts a process of one stack at one end of a link, which ends with the link.
 */
export async function startEnd (link: Link, end: LinkEnd, stack: StackName): Promise<EndProcess> {
  const child = link.run(end, scriptPath(import.meta.url, 'end'), [stack])
  const name = `${stack} ${end}`

  return {
    ...await workerOf<EndTasks>(child, name),
    arrival: async (bytes, timeout) => arrival(child, bytes, timeout).catch(err => {
      throw new Error(`${name}: ${bytes} bytes did not arrive within ${timeout} ms`, { cause: err })
    })
  }
}

async function arrival (child: ChildProcess, bytes: number, timeout: number): Promise<Arrival[]> {
  const arrivals: Arrival[] = []
  let arrived = 0

  for await (const [message] of on(child, 'message', { signal: AbortSignal.timeout(timeout) })) {
    if (message.type === 'arrived') {
      arrivals.push(message)
      arrived += message.bytes
    }

    if (arrived >= bytes) {
      break
    }
  }

  return arrivals
}
