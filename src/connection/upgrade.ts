import { ConnectionClosedError, StreamResetError } from '@libp2p/interface'
import { withCause } from '../errors.ts'
import { afterPoll } from '../event-loop/after-poll.ts'
import type { Closing } from './closing.ts'

/**
 * How long an upgrade may go on after the peer's FIN, in ms. A muxer is negotiated through the encrypter,
 * whose reader hears of the end of a connection, and not of FIN: it would wait for the timeout of the upgrade.
 * A connection gater that takes longer loses what the peer sent before its FIN, as with the official transport
 */
const AFTER_FIN = 500

export interface UpgradeInit {
  /** The graceful close of the connection, if one has begun */
  closing(): Closing | undefined

  /** What has ended the connection, if an error has */
  closeError(): Error | undefined

  /** Send what waits, and FIN */
  end(): void

  abort(err: Error): void
}

/**
 * The time in which libp2p makes the layers above a connection. What the peer sent before its FIN
 * is for a muxer that may not exist yet, and the muxer answers it. So our own FIN waits until the upgrade is
 * done. A muxer that is made after the end of its connection throws where nobody can catch the error: an abort
 * makes the layers below it drop what they have read.
 */
export class Upgrade {
  readonly #init: UpgradeInit
  #isOver = false

  /** Exists after the peer's FIN */
  #cancelEnd?: () => void

  constructor (init: UpgradeInit) {
    this.#init = init
  }

  /** @throws {Error} the upgrader's error, with what had ended the connection as its cause. The caller then aborts the connection */
  async run <T> (upgrade: () => Promise<T>): Promise<T> {
    const { closeError, closing } = this.#init

    try {
      const upgraded = await upgrade()
      closing()?.start()

      return upgraded
    } catch (err: any) {
      if (closing()?.isOver === false) {
        // a peer that sent FIN gets ours, and not the reset of the abort that follows
        closing()?.start()
        await closing()?.done().catch(() => {})
      }

      const cause = closeError()

      // an upgrader's error seldom says why the connection had ended
      throw cause == null || err.cause != null || err === cause ? err : withCause(err, cause)
    } finally {
      this.#isOver = true
      this.#cancelEnd?.()
    }
  }

  /** The peer has sent FIN */
  onFin (): void {
    if (!this.#isOver) {
      this.#cancelEnd ??= afterPoll(AFTER_FIN, () => {
        this.#init.end()
        this.#init.abort(new ConnectionClosedError('The peer closed the connection during the upgrade'))
      }, false)
    }
  }

  /** The peer has sent RST */
  onReset (cause?: Error): void {
    this.#init.abort(withCause(new StreamResetError(), cause))
  }
}
