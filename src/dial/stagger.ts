import { setMaxListeners } from '@libp2p/interface'

/** How long one target may be silent before the next is tried too, in ms: RFC 8305, and Node's own default */
export const ATTEMPT_DELAY = 250

/** A refused target must not make the others a flood of SYNs: the least time between two of them, in ms (RFC 8305) */
export const MIN_ATTEMPT_DELAY = 10

/** How many addresses of a peer are dialed at once, and how many a name may lead to: as many as libp2p dials by default (`maxPeerAddrsToDial`) */
export const MAX_TARGETS = 25

/** How many targets are tried at a time. The next one waits until one of them fails */
export const MAX_AT_ONCE = 8

export interface StaggerInit<Target, Connected> {
  /** Rejects, and leaves nothing behind, if its signal fires: another target was first, or the caller gave up */
  connect(target: Target, signal: AbortSignal): Promise<Connected>

  /** Another target connected in the same moment, and was first */
  discard(connected: Connected): void

  /** Ends all attempts */
  signal: AbortSignal

  /** How long one target may be silent before the next is tried too, in ms. By default {@link ATTEMPT_DELAY} */
  delay?: number
}

/**
 * Connects to the first of several targets that answers ("happy eyeballs", RFC 8305). The next
 * target is tried when the one before has failed, or has been silent for a while. Those that were begun go
 * on until one of them connects.
 *
 * @param targets - in the order in which they are tried
 * @throws {Error} the signal's reason, if it fires
 * @throws {AggregateError} if all of several targets fail; with the `code` of the first error, as Node has it
 * @throws {Error} the error of the only target
 */
export async function stagger <Target, Connected> (targets: readonly Target[], init: StaggerInit<Target, Connected>): Promise<Connected> {
  const { connect, signal } = init

  return targets.length === 1 ? connect(targets[0], signal) : new Stagger(targets, init).run()
}

class Stagger<Target, Connected> {
  readonly #init: StaggerInit<Target, Connected>
  readonly #waiting: Target[]
  readonly #errors: Error[] = []
  readonly #result = Promise.withResolvers<Connected>()

  /** Ends the attempts that are under way */
  readonly #over = new AbortController()

  /** How many attempts are under way */
  #running = 0

  /** When the last attempt began, by the clock of `performance.now()` */
  #lastStart = -Infinity
  #timer?: NodeJS.Timeout

  constructor (targets: readonly Target[], init: StaggerInit<Target, Connected>) {
    this.#init = init
    this.#waiting = [...targets]
    setMaxListeners(Infinity, this.#over.signal)
  }

  async run (): Promise<Connected> {
    const { signal } = this.#init

    signal.addEventListener('abort', this.#onAbort)

    try {
      if (signal.aborted) {
        this.#onAbort()
      } else {
        this.#next()
      }

      return await this.#result.promise
    } finally {
      signal.removeEventListener('abort', this.#onAbort)
      clearTimeout(this.#timer)
      this.#over.abort()
    }
  }

  readonly #onAbort = (): void => {
    this.#over.abort(this.#init.signal.reason)
    this.#result.reject(this.#init.signal.reason)
  }

  readonly #next = (): void => {
    clearTimeout(this.#timer)

    if (this.#running === 0 && this.#waiting.length === 0) {
      this.#result.reject(asOne(this.#errors))
    } else if (this.#running < MAX_AT_ONCE && this.#waiting.length > 0 && !this.#over.signal.aborted) {
      this.#begin(this.#waiting.shift() as Target)
    }
  }

  #begin (target: Target): void {
    const { connect, delay = ATTEMPT_DELAY } = this.#init

    this.#running++
    this.#lastStart = performance.now()
    this.#nextIn(Math.max(delay, MIN_ATTEMPT_DELAY))
    connect(target, this.#over.signal).then(this.#onConnected, this.#onFailure)
  }

  #nextIn (ms: number): void {
    clearTimeout(this.#timer)

    if (this.#waiting.length > 0) {
      this.#timer = setTimeout(this.#next, ms)
    }
  }

  readonly #onConnected = (connected: Connected): void => {
    if (this.#over.signal.aborted) {
      this.#init.discard(connected)
      return
    }

    this.#over.abort()
    this.#result.resolve(connected)
  }

  readonly #onFailure = (err: Error): void => {
    this.#running--

    if (this.#over.signal.aborted) {
      return
    }

    this.#errors.push(err)

    if (this.#waiting.length > 0) {
      // Node drops the fraction of a timer
      this.#nextIn(Math.max(0, Math.ceil(this.#lastStart + MIN_ATTEMPT_DELAY - performance.now())))
    } else {
      this.#next()
    }
  }
}

function asOne (errors: NodeJS.ErrnoException[]): Error {
  if (errors.length === 0) {
    return new Error('There was nothing to connect to')
  }

  return Object.assign(new AggregateError(errors), { code: errors[0].code })
}
