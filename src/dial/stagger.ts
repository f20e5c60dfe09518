import { TimeoutError } from '@libp2p/interface'

/** How long one target may be silent before the next is tried too, in ms: RFC 8305, and Node's own default */
export const ATTEMPT_DELAY = 250

/** A refused target must not make the others a flood of SYNs: the least time between two of them, in ms (RFC 8305) */
export const MIN_ATTEMPT_DELAY = 10

/** How many addresses of a peer are dialed at once, and how many a name may lead to: as many as libp2p dials by default (`maxPeerAddrsToDial`) */
export const MAX_TARGETS = 25

/** How many targets are tried at a time. The next one waits until one of them fails, or has had its time */
export const MAX_AT_ONCE = 8

/** How long a target may be silent while another one waits for its place, in ms: its first SYN, and the one that the kernel sends after a second, over 1 s there and back */
export const PATIENCE = 2_000

export interface StaggerInit<Target, Connected> {
  /** Rejects, and leaves nothing behind, if its signal fires: another target was first, or the caller gave up */
  connect(target: Target, signal: AbortSignal): Promise<Connected>

  /** Another target connected in the same moment, and was first */
  discard(connected: Connected): void

  /** Ends all attempts */
  signal: AbortSignal

  /** How long one target may be silent before the next is tried too, in ms. By default {@link ATTEMPT_DELAY} */
  delay?: number

  /** How long one target may be silent if as many as may be are tried, and another one waits, in ms. By default {@link PATIENCE} */
  patience?: number
}

interface Running {
  controller: AbortController

  /** By the clock of `performance.now()` */
  since: number
}

/**
 * Connects to the first of several targets that answers ("happy eyeballs", RFC 8305). The next
 * target is tried when the one before has failed, or has been silent for a while. Those that were begun go
 * on until one of them connects, or its place is needed.
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

  /** The attempts under way, the oldest first */
  readonly #running = new Set<Running>()
  #isOver = false

  /** When the last attempt began, by the clock of `performance.now()` */
  #lastStart = -Infinity
  #timer?: NodeJS.Timeout

  constructor (targets: readonly Target[], init: StaggerInit<Target, Connected>) {
    this.#init = init
    this.#waiting = [...targets]
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
      this.#end()
    }
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#init.signal

    this.#end(reason)
    this.#result.reject(reason)
  }

  #end (reason?: unknown): void {
    this.#isOver = true
    clearTimeout(this.#timer)

    for (const { controller } of this.#running) {
      controller.abort(reason)
    }
  }

  readonly #next = (): void => {
    clearTimeout(this.#timer)

    if (this.#waiting.length === 0) {
      this.#rejectIfAllFailed()
      return
    }

    // a place is free, or becomes free
    const remaining = this.#running.size < MAX_AT_ONCE ? 0 : this.#giveUpOldest()

    if (remaining > 0) {
      this.#nextIn(remaining)
    } else {
      this.#begin(this.#waiting.shift() as Target)
    }
  }

  #rejectIfAllFailed (): void {
    if (this.#running.size === 0 && this.#waiting.length === 0) {
      this.#result.reject(asOne(this.#errors))
    }
  }

  /** @returns how much of its time the oldest attempt has left, in ms. 0 if it has ended */
  #giveUpOldest (): number {
    const { patience = PATIENCE } = this.#init
    const [oldest] = this.#running
    const remaining = Math.ceil(oldest.since + patience - performance.now())

    if (remaining > 0) {
      return remaining
    }

    this.#running.delete(oldest)
    oldest.controller.abort(Object.assign(new TimeoutError(`There was no answer for ${patience} ms, and another address waited`), { code: 'ETIMEDOUT' }))

    return 0
  }

  #begin (target: Target): void {
    const { connect, delay = ATTEMPT_DELAY } = this.#init
    const running = { controller: new AbortController(), since: performance.now() }

    this.#running.add(running)
    this.#lastStart = running.since
    this.#nextIn(Math.max(delay, MIN_ATTEMPT_DELAY))
    connect(target, running.controller.signal).then(this.#onConnected, err => { this.#onFailure(running, err) })
  }

  #nextIn (ms: number): void {
    clearTimeout(this.#timer)

    if (this.#waiting.length > 0) {
      this.#timer = setTimeout(this.#next, ms)
    }
  }

  readonly #onConnected = (connected: Connected): void => {
    if (this.#isOver) {
      this.#init.discard(connected)
      return
    }

    this.#end()
    this.#result.resolve(connected)
  }

  #onFailure (running: Running, err: Error): void {
    const wasGivenUp = !this.#running.delete(running)

    if (this.#isOver) {
      return
    }

    this.#errors.push(err)

    if (!wasGivenUp && this.#waiting.length > 0) {
      // Node drops the fraction of a timer
      this.#nextIn(Math.max(0, Math.ceil(this.#lastStart + MIN_ATTEMPT_DELAY - performance.now())))
    } else {
      this.#rejectIfAllFailed()
    }
  }
}

function asOne (errors: NodeJS.ErrnoException[]): Error {
  if (errors.length === 0) {
    return new Error('There was nothing to connect to')
  }

  return Object.assign(new AggregateError(errors), { code: errors[0].code })
}
