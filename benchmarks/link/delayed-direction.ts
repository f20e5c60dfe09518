import { performance } from 'node:perf_hooks'
import type net from 'node:net'

export interface DirectionOptions {
  /**
   * Milliseconds that everything is held back.
   */
  delay: number

  /**
   * Up to this many milliseconds are added to each chunk at random. Order is
   * kept, as TCP keeps it.
   *
   * @default 0
   */
  jitter?: number

  /**
   * Bits per second, without limit by default.
   */
  rate?: number

  /**
   * A source of numbers from 0 to 1, for jitter that can be repeated.
   *
   * @default Math.random
   */
  random?(): number

  /**
   * Bytes in flight before reading from the sender stops.
   *
   * @default 16 MiB
   */
  window?: number
}

export type DelayedEvent =
  { type: 'open', open(): void } |
  { type: 'data', chunk: Uint8Array } |
  { type: 'fin' } |
  { type: 'reset' }

export interface DelayedDirection {
  push(event: DelayedEvent): void
}

const WINDOW = 16 * 1024 * 1024

/**
 * Passes everything that can be seen of `from` (bytes, FIN, RST) on to `to`, in
 * order and late.
 */
export function delayedDirection (from: net.Socket, to: net.Socket, options: DirectionOptions): DelayedDirection {
  const { delay, jitter = 0, rate, random = Math.random, window = WINDOW } = options
  const queue: Array<{ due: number, event: DelayedEvent }> = []
  let timer: NodeJS.Timeout | undefined
  let lineFree = 0
  let lastDue = 0
  let inFlight = 0

  function push (event: DelayedEvent): void {
    if (to.destroyed) {
      return
    }

    const now = performance.now()
    const bytes = event.type === 'data' ? event.chunk.byteLength : 0
    lineFree = Math.max(lineFree, now) + (rate == null ? 0 : bytes * 8_000 / rate)
    lastDue = Math.max(lastDue, lineFree + delay + jitter * random())
    inFlight += bytes
    queue.push({ due: lastDue, event })

    if (inFlight > window) {
      from.pause()
    }

    schedule()
  }

  function schedule (): void {
    if (timer != null || queue.length === 0 || to.writableNeedDrain) {
      return
    }

    timer = setTimeout(deliver, Math.max(0, queue[0].due - performance.now()))
  }

  function deliver (): void {
    timer = undefined

    // timers tick in whole milliseconds: what is due within half of one is due
    while (queue.length > 0 && queue[0].due <= performance.now() + 0.5 && !to.writableNeedDrain) {
      const event = queue.shift()?.event

      if (event != null) {
        pass(event)
      }
    }

    if (inFlight <= window) {
      from.resume()
    }

    schedule()
  }

  function pass (event: DelayedEvent): void {
    if (event.type === 'open') {
      event.open()
    } else if (event.type === 'data') {
      inFlight -= event.chunk.byteLength
      to.write(event.chunk)
    } else if (event.type === 'fin') {
      to.end()
    } else {
      to.resetAndDestroy()
    }
  }

  from.on('data', chunk => { push({ type: 'data', chunk }) })
  from.once('end', () => { push({ type: 'fin' }) })
  from.once('close', hadError => {
    if (hadError) {
      push({ type: 'reset' })
    }
  })
  to.on('drain', schedule)
  to.once('close', () => {
    // nothing can be delivered any more
    clearTimeout(timer)
    queue.length = 0
    inFlight = 0
    from.resume()
  })

  return { push }
}
