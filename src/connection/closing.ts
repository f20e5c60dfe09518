import { raceSignal } from 'race-signal'
import { setImmediate } from '../event-loop/immediate.ts'
import { finish } from './fin-wait.ts'
import type { AbortOptions } from '@libp2p/interface'
import type { Socket } from 'node:net'

/**
 * How much `send` accepts after `close()` while earlier data still waits, in bytes. An
 * encrypter may have held that much back until the socket drains: all that its streams sent
 * before they were told to wait, which is some windows of a muxer at most.
 */
const MAX_HELD_BYTES = 64 * 1024 * 1024

/**
 * An encrypter that reads through a queue, as TLS does, may write through one too. It counts as empty when it has sent
 * nothing in this many turns of the event loop: TLS takes one turn for each write, and may write after we have looked.
 */
export const QUIET_TURNS = 2

/** What `send` has accepted and the socket does not have yet */
export interface Unsent {
  /** Whether there is anything */
  isPending(): boolean

  /** {@link QUIET_TURNS}, or 0 if the encrypter has no queue */
  quietTurns(): number

  /** Hand data to the socket until it is full, and wait until it takes more */
  drain(): Promise<void>

  /** Accept no more, and hand the rest to the socket */
  end(): void
}

export interface ClosingInit {
  socket: Socket
  unsent: Unsent

  /** What began it: a call of `close()`, or the peer's FIN */
  cause: 'close' | 'fin'

  /** Which end sent FIN first. With `allowHalfOpen` the peer's FIN starts no close */
  by: 'local' | 'remote'

  /** How long to wait for the peer's FIN, in ms */
  timeout: number

  /** The kernel has taken FIN; after that, the socket is closed (`destroyed`), or the peer has not sent FIN in time */
  on(event: 'finish' | 'destroyed' | 'timeout'): void
}

/**
 * A graceful close, created when the close begins. It hands everything that `send` accepted
 * to the kernel, then FIN, and then waits for the peer's FIN.
 *
 * These files decide how a connection ends:
 *
 * - close-state.ts: which event leads from which state to which
 * - end-socket.ts: FIN and RST, on a socket
 * - socket-connection.ts: turns libp2p's calls and the socket's events into those events
 * - fin-wait.ts: how long the peer's FIN is awaited, and which sockets linger after that
 */
export class Closing {
  readonly by: 'local' | 'remote'
  readonly #init: ClosingInit
  readonly #result = Promise.withResolvers<void>()

  /** Resolves when the connection is over. Nobody has to wait for the result, so a rejection must not count as unhandled */
  readonly ended = this.#result.promise.catch(() => {})
  #isAwaited = false
  #isOver = false

  /** What `send` has accepted since the close began, in bytes */
  #heldBytes = 0

  /** The error that `send` threw. Cleared one turn of the event loop after an abort with it was ignored */
  #refusal?: unknown

  constructor (init: ClosingInit) {
    this.by = init.by
    this.#init = init
  }

  /** Whether `close()` was called: the peer's FIN begins a close too */
  get isAwaited (): boolean {
    return this.#isAwaited
  }

  /** If nothing is left to be sent, the socket has been ended when this returns */
  start (): void {
    this.#run().catch(() => {
      // the connection is over, and has settled this
    })
  }

  /**
   * The signal ends the wait, not the close.
   *
   * @throws {Error} what ended the connection before everything was sent
   */
  async done (options?: AbortOptions): Promise<void> {
    this.#isAwaited = true

    return raceSignal(this.#result.promise, options?.signal)
  }

  /** The connection is over. `error` says why not everything was sent, if it was not */
  settle (error?: Error): void {
    this.#isOver = true

    if (error == null) {
      this.#result.resolve()
    } else {
      this.#result.reject(error)
    }
  }

  /**
   * Counts data that `send` is given during the close. An encrypter may have held it back.
   *
   * @returns false above {@link MAX_HELD_BYTES}: no encrypter has held back more
   */
  hold (bytes: number): boolean {
    this.#heldBytes += bytes

    return this.#heldBytes <= MAX_HELD_BYTES
  }

  /** `send` has thrown this, since it came too late for the close */
  refuse (err: unknown): void {
    this.#refusal = err
  }

  /**
   * An encrypter whose late `send` threw aborts with that error, TLS several times. Ignore
   * it for one turn of the event loop, so that earlier data still leaves.
   */
  isRefusal (err?: unknown): boolean {
    if (err == null || err !== this.#refusal) {
      return false
    }

    setImmediate(() => {
      if (this.#refusal === err) {
        this.#refusal = undefined
      }
    })

    return true
  }

  async #run (): Promise<void> {
    const { cause, on, socket, timeout, unsent } = this.#init

    // a listener may answer the peer's FIN
    if (cause === 'fin' || unsent.isPending() || unsent.quietTurns() > 0) {
      do {
        await this.#drain()
      } while (!this.#isOver && unsent.isPending())
    }

    if (this.#isOver) {
      return
    }

    unsent.end()

    if (socket.destroyed && !socket.writableFinished) {
      // not everything was sent: its 'close' event is about to say so
      return
    }

    const isClosed = await finish(socket, {
      timeout,
      onFinish: () => { on('finish') }
    })

    if (!this.#isOver) {
      on(isClosed ? 'destroyed' : 'timeout')
    }
  }

  async #drain (): Promise<void> {
    const { socket, unsent } = this.#init

    await Promise.resolve()

    let turns = unsent.quietTurns()

    while (!this.#isOver && (turns > 0 || unsent.isPending())) {
      const { bytesWritten } = socket
      const wasPending = unsent.isPending()

      await unsent.drain()
      // everybody who waited for 'drain' sends first
      await new Promise<void>(resolve => { setImmediate(resolve) })

      turns = wasPending || socket.bytesWritten !== bytesWritten ? unsent.quietTurns() : turns - 1
    }
  }
}
