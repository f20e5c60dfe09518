import { MuxerClosedError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { NotMatchingPingError, UnRequestedPingError } from './errors.ts'
import type { AbortOptions, Logger } from '@libp2p/interface'

interface ActivePing extends PromiseWithResolvers<number> {
  number: number
  sentAt: number
}

/** The pings of a connection: one at a time, which all share who ask for one */
export class Pings {
  readonly #send: (number: number) => void
  readonly #log: Logger
  #next = 0
  #active?: ActivePing
  #timer?: ReturnType<typeof setInterval>

  /** The last round trip, in ms. -1 before the first */
  roundTrip = -1

  constructor (send: (number: number) => void, log: Logger) {
    this.#send = send
    this.#log = log
  }

  /** Send one now, which tells the round trip, and one each so many ms */
  keepAlive (interval: number): void {
    this.start()
    this.#timer = setInterval(() => { this.start() }, interval)
    // browsers have numbers
    ;(this.#timer as Partial<NodeJS.Timeout>).unref?.()
  }

  /** Send one, unless one is on its way */
  start (): void {
    if (this.#active == null) {
      const number = this.#next++ % 2 ** 32
      const active = this.#active = Object.assign(Promise.withResolvers<number>(), { number, sentAt: performance.now() })

      active.promise.catch(err => { this.#log('ping %d was not answered - %e', number, err) })
      this.#send(number)
    }
  }

  async ping (options?: AbortOptions): Promise<number> {
    this.start()

    return raceSignal(this.#active?.promise ?? Promise.reject(new MuxerClosedError()), options?.signal)
  }

  /**
   * @returns the round trip, in ms
   * @throws {ProtocolError} it is no answer to the ping that is on its way
   */
  onAnswer (number: number, now: number): number {
    const active = this.#active

    if (active == null) {
      throw new UnRequestedPingError()
    }

    if (active.number !== number) {
      throw new NotMatchingPingError()
    }

    const ms = now - active.sentAt

    this.#active = undefined
    this.roundTrip = Math.round(ms)
    active.resolve(this.roundTrip)

    return ms
  }

  stopKeepAlive (): void {
    clearInterval(this.#timer)
  }

  end (): void {
    this.stopKeepAlive()
    this.#active?.reject(new MuxerClosedError('The muxer was closed before the ping was answered'))
  }
}
