/**
 * What a worker process can be asked to do. Parameters and results travel as JSON.
 * Give a set of tasks a type alias: an interface is no Record.
 */
export type Tasks = Record<string, (...parameters: any[]) => unknown>

export interface Request {
  id: number
  task: string
  parameters: unknown[]
}

export type Reply =
  { type: 'ready', pid: number } |
  { type: 'done', id: number, result: unknown } |
  { type: 'failed', id: number, reason: string }

/** Does what the parent process asks over the channel, and ends with the channel. */
export function serve (tasks: Tasks, end: () => void = () => process.exit()): void {
  // the terminal sends its signals to us too; our parent decides when we end
  process.on('SIGINT', () => {})
  process.once('disconnect', end)
  process.on('message', ({ id, task, parameters }: Request) => {
    perform(tasks[task], parameters).then(
      result => { tell({ type: 'done', id, result } satisfies Reply) },
      err => { tell({ type: 'failed', id, reason: err.stack } satisfies Reply) }
    )
  })

  // it may have closed while we were loading
  if (process.connected) {
    tell({ type: 'ready', pid: process.pid } satisfies Reply)
  } else {
    end()
  }
}

async function perform (task: Tasks[string], parameters: unknown[]): Promise<unknown> {
  return task(...parameters)
}

/** Tells the parent process something, asked or not. */
export function tell (message: object): void {
  if (process.connected) {
    // the parent may have gone without our knowing yet
    process.send?.(message, undefined, undefined, () => {})
  }
}
