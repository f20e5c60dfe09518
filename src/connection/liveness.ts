import { afterPoll } from '../event-loop/after-poll.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import type { Socket } from 'node:net'

/*
 * Two ways in which a peer looks dead: it neither takes nor sends anything, or it takes nothing of
 * what waits to be sent to it. An event loop that was too busy to look proves neither. TCP's own
 * keep-alive probes are the kernel's (`keepAliveInitialDelay` in options.ts).
 */

/** How many looks in vain make a write stalled */
const LOOKS = 4

/**
 * Notices that a peer reads nothing of what waits to be sent to it, even if it goes on
 * sending. Node's own timeout starts anew with everything that comes in.
 *
 * It looks from time to time whether writes have completed, instead of setting a
 * timer for each. It counts looks and not time: an event loop that is busy for
 * minutes is one look.
 */
export class StallWatch {
  readonly #socket: Socket
  readonly #timeout: number
  readonly #onStalled: () => void
  #cancel?: () => void
  #taken = 0
  #looksInVain = 0

  /** `onStalled` is called when nothing was taken for `timeout` ms, or up to a quarter more */
  constructor (socket: Socket, timeout: number, onStalled: () => void) {
    this.#socket = socket
    this.#timeout = timeout
    this.#onStalled = onStalled
  }

  /** Something waits to be taken. The watch ends by itself when nothing does. */
  start (): void {
    if (this.#cancel == null) {
      this.#taken = this.#bytesTaken()
      this.#looksInVain = 0
      this.#lookLater()
    }
  }

  stop (): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #lookLater (): void {
    this.#cancel = afterPoll(this.#timeout / LOOKS, () => {
      this.#cancel = undefined
      this.#look()
    })
  }

  #look (): void {
    if (this.#socket.destroyed || this.#socket.writableLength === 0) {
      return
    }

    const taken = this.#bytesTaken()
    this.#looksInVain = taken === this.#taken ? this.#looksInVain + 1 : 0
    this.#taken = taken

    if (this.#looksInVain < LOOKS) {
      this.#lookLater()
    } else {
      this.#onStalled()
    }
  }

  /** All that the kernel took of what was written: Node counts a write when the kernel has the whole of it */
  #bytesTaken (): number {
    return this.#socket.bytesWritten - this.#socket.writableLength
  }
}

/**
 * Call this on a socket's 'timeout'. It calls back if the socket has really neither sent
 * nor received for that long, and the event loop was not only too busy to look.
 * Otherwise it starts the time again, which Node does not do by itself where `send`
 * only made the socket's buffer longer.
 *
 * @see https://nodejs.org/api/net.html#event-timeout
 */
export function ifInactive (socket: Socket, callback: () => void): void {
  const { bytesRead, writableLength } = socket

  setImmediate(() => {
    if (socket.destroyed) {
      return
    }

    if (socket.bytesRead === bytesRead && socket.writableLength === writableLength) {
      callback()
    } else {
      socket.setTimeout(socket.timeout ?? 0)
    }
  })
}
