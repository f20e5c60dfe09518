import { NotStartedError } from '@libp2p/interface'
import { endpointName } from '../addresses.ts'
import { MAX_TIMEOUT } from '../check-options.ts'
import { abortError, connectTimeoutError } from '../errors.ts'
import type { Endpoint } from '../addresses.ts'

export interface ConnectBoundsInit {
  endpoint: Endpoint

  /** The dial's */
  signal: AbortSignal

  /** Fires when the transport stops */
  stopping: AbortSignal

  /** The option of the dial, in ms. It counts from now on: look-ups and waits for listeners included */
  timeout?: number
}

/**
 * Ends the first phase of a dial, until the connection is established: by the dial's signal, by its timeout,
 * or when the transport stops.
 */
export class ConnectBounds {
  readonly #init: ConnectBoundsInit
  readonly #start = performance.now()
  readonly #controller = new AbortController()
  readonly #timer?: NodeJS.Timeout
  #endedBy?: 'signal' | 'timeout' | 'stop'

  constructor (init: ConnectBoundsInit) {
    const { signal, stopping, timeout = 0 } = init

    this.#init = init
    signal.addEventListener('abort', this.#onAbort)
    stopping.addEventListener('abort', this.#onStop)

    if (timeout > 0) {
      this.#timer = setTimeout(this.#onTimeout, Math.min(timeout, MAX_TIMEOUT))
    }

    if (signal.aborted) {
      this.#onAbort()
    } else if (stopping.aborted) {
      this.#onStop()
    }
  }

  /** Fires with the error that the dial ends with */
  get signal (): AbortSignal {
    return this.#controller.signal
  }

  get endedBy (): 'signal' | 'timeout' | 'stop' | undefined {
    return this.#endedBy
  }

  /** The phase is over */
  release (): void {
    const { signal, stopping } = this.#init

    signal.removeEventListener('abort', this.#onAbort)
    stopping.removeEventListener('abort', this.#onStop)
    clearTimeout(this.#timer)
  }

  readonly #onAbort = (): void => { this.#end('signal', abortError(this.#init.signal)) }

  readonly #onStop = (): void => { this.#end('stop', new NotStartedError('The transport was stopped')) }

  readonly #onTimeout = (): void => { this.#end('timeout', connectTimeoutError(endpointName(this.#init.endpoint), this.#start)) }

  #end (by: 'signal' | 'timeout' | 'stop', error: Error): void {
    this.release()
    this.#endedBy ??= by
    this.#controller.abort(error)
  }
}
