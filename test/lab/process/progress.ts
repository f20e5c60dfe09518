import { SingleBar } from 'cli-progress'

export interface Progress {
  note(message: string): void

  /** One more of `total` is done. */
  step(message: string): void
  stop(): void
}

const LINE_INTERVAL = 2_000

/** A bar on a terminal, elsewhere a line at most every two seconds. */
export function progress (total: number, output: NodeJS.WriteStream = process.stderr): Progress {
  return output.isTTY ? bar(total, output) : lines(total, output)
}

function bar (total: number, stream: NodeJS.WriteStream): Progress {
  const bar = new SingleBar({ format: '[{bar}] {percentage}% | {duration_formatted} | {message}', stream, hideCursor: false, clearOnComplete: true })
  let started = false

  function update (increment: number, message: string): void {
    if (!started) {
      started = true
      bar.start(total, 0, { message })
      process.once('exit', stop)
    }

    bar.increment(increment, { message })
  }

  /** Also where a signal ends the process: the terminal would go on without its line wrap. */
  function stop (): void {
    if (started) {
      started = false
      bar.stop()
      process.removeListener('exit', stop)
    }
  }

  return {
    note: message => { update(0, message) },
    step: message => { update(1, message) },
    stop
  }
}

function lines (total: number, stream: NodeJS.WriteStream): Progress {
  let done = 0
  let last = -Infinity

  function update (message: string): void {
    if (performance.now() - last >= LINE_INTERVAL) {
      last = performance.now()
      stream.write(`${String(done).padStart(String(total).length)}/${total} ${message}\n`)
    }
  }

  return {
    note: update,
    step (message) {
      done++
      update(message)
    },
    stop: () => {}
  }
}
