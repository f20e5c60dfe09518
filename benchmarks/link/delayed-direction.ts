import { DelayLine } from './delay-line.ts'
import type { DelayLineOptions } from './delay-line.ts'
import type net from 'node:net'

export type DelayedEvent =
  { type: 'open', open(): void } |
  { type: 'data', chunk: Uint8Array } |
  { type: 'fin' } |
  { type: 'reset' }

export interface DelayedDirection {
  push(event: DelayedEvent): void
}

/**
 * Bytes in flight before reading from the sender stops
 */
const WINDOW = 16 * 1024 * 1024

/**
 * Passes everything that can be seen of `from` (bytes, FIN, RST) on to `to`, in
 * order and late.
 */
export function delayedDirection (from: net.Socket, to: net.Socket, options: DelayLineOptions): DelayedDirection {
  let inFlight = 0

  const line = new DelayLine<DelayedEvent>({
    ...options,
    blocked: () => to.writableNeedDrain,
    deliver
  })

  function push (event: DelayedEvent): void {
    if (to.destroyed) {
      return
    }

    const bytes = event.type === 'data' ? event.chunk.byteLength : 0
    inFlight += bytes

    if (inFlight > WINDOW) {
      from.pause()
    }

    line.push(event)
  }

  function deliver (event: DelayedEvent): void {
    if (event.type === 'open') {
      event.open()
    } else if (event.type === 'data') {
      to.write(event.chunk)
      inFlight -= event.chunk.byteLength

      if (inFlight <= WINDOW) {
        from.resume()
      }
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
  to.on('drain', () => { line.wake() })
  to.once('close', () => {
    // nothing can be delivered any more
    line.clear()
    from.resume()
  })

  return { push }
}
