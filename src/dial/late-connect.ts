import { raceSignal } from 'race-signal'
import { PlanError } from '../connector.ts'
import type { ConnectBounds } from './bounds.ts'
import type { ConnectReport } from './connect-report.ts'
import type { Establishing } from '../connector.ts'
import type { CounterGroup } from '@libp2p/interface'
import type { Socket } from 'node:net'

export interface LateConnectInit {
  socket: Socket
  established: Establishing
  bounds: ConnectBounds
  report: ConnectReport

  /** Counts the events of the connection */
  events?: CounterGroup
}

/**
 * The rest of the first phase of a dial, if the peer had yet to answer the SYN when the upgrade began. A failure to
 * connect shows as an error of a read or a write. The dial then ends as if the connect had failed:
 * with the same error, metrics and log lines.
 */
export class LateConnect {
  readonly #init: LateConnectInit
  #isReported = false
  #error?: Error

  /** Counts the events of the connection, but none before it is established */
  readonly events?: CounterGroup

  constructor (init: LateConnectInit) {
    const { bounds, events } = init

    this.#init = init
    this.events = events == null ? undefined : this.#gated(events)
    // runs before the upgrader's listener, which destroys the socket
    bounds.signal.addEventListener('abort', this.#onBound)
  }

  /**
   * The upgrade is done: wait until the connection is established. It nearly always is,
   * because an encrypter has heard from the peer.
   *
   * @throws {PlanError} if another plan may do better
   * @throws {Error} what a connect that fails rejects with
   */
  async connected (): Promise<void> {
    const { bounds, established, socket } = this.#init

    this.#look()

    if (!this.#isReported && (socket.writable || socket.destroyed)) {
      await raceSignal(established.settled(), bounds.signal, { translateError: () => bounds.signal.reason })
      this.#look()
    }

    if (this.#error != null) {
      throw this.#error
    }

    this.#end()
  }

  /**
   * The upgrade failed. Call this before the socket is destroyed.
   *
   * @returns the error of the dial if it was never connected, or `undefined` if the upgrade is to blame
   */
  failed (err: Error): Error | undefined {
    const { bounds, report } = this.#init

    this.#look()
    this.#end()

    if (!this.#isReported && bounds.signal.aborted) {
      this.#isReported = true
      this.#error = report.failed(err)
    }

    return this.#error
  }

  readonly #onBound = (): void => {
    const { bounds, socket } = this.#init

    this.#look()

    // the signal of the dial ends the upgrade itself
    if (!this.#isReported && bounds.endedBy !== 'signal') {
      socket.destroy(bounds.signal.reason)
    }
  }

  #look (): void {
    const { bounds, established, report } = this.#init
    const state = this.#isReported ? 'pending' : established.look()

    if (state === 'pending') {
      return
    }

    this.#isReported = true

    try {
      if (state === 'established') {
        bounds.release()
        report.opened(established.outcome)
      } else {
        this.#error = established.error instanceof PlanError ? established.error : report.failed(established.error as Error)
      }
    } catch (err: any) {
      // a logger or metrics of others threw: the dial fails, as an ordinary one does then
      this.#error = err
    }
  }

  #end (): void {
    const { bounds, established } = this.#init

    bounds.signal.removeEventListener('abort', this.#onBound)
    bounds.release()
    established.end()
  }

  #gated (events: CounterGroup): CounterGroup {
    return {
      increment: values => {
        this.#look()

        if (this.#isReported && this.#error == null) {
          events.increment(values)
        }
      },
      reset: () => { events.reset() }
    }
  }
}
