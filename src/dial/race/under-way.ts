import { abandonedError, deniedError, silentError } from './errors.ts'
import type { Attempt, Entrant, EntrantState } from './entrant.ts'
import type { DialHooks, RaceInit } from './init.ts'
import type { Pace } from './pace.ts'
import type { Connection } from '@libp2p/interface'
import type { Socket } from 'node:net'

export interface UnderWayInit extends Pick<RaceInit, 'driver' | 'mayDial' | 'places'> {
  pace: Pace
  dial(entrant: Entrant, signal: AbortSignal, hooks: DialHooks): Promise<Connection>

  /** Its socket is connected, unless the SYN `isPending` */
  onConnected(entrant: Entrant, isPending: boolean): void

  /** It is upgraded. `isOver`: it was given up in the same moment */
  onConnection(entrant: Entrant, connection: Connection, isOver: boolean): void
  onFailure(entrant: Entrant, attempt: Attempt, error: Error): void

  /** What is called here has thrown */
  onCrash(err: Error): void
}

/**
 * The addresses of a race that are under way. Each asks the connection gater, takes a place if others connect
 * too, and is dialed.
 */
export class UnderWay {
  readonly #init: UnderWayInit
  readonly #entrants = new Set<Entrant>()

  constructor (init: UnderWayInit) {
    this.#init = init
  }

  get size (): number {
    return this.#entrants.size
  }

  all (...states: EntrantState[]): Entrant[] {
    return [...this.#entrants].filter(({ state }) => states.length === 0 || states.includes(state))
  }

  start (entrant: Entrant): void {
    const { driver, mayDial } = this.#init
    const attempt: Attempt = { controller: new AbortController(), since: performance.now() }

    this.#entrants.add(entrant)
    entrant.starts++
    entrant.attempt = attempt

    if (entrant === driver || entrant.isAllowed || mayDial == null) {
      this.#takePlace(entrant, attempt)
    } else {
      entrant.state = 'asking'
      this.#ask(entrant, attempt, mayDial)
    }
  }

  /** The only one that connects needs no place */
  connectQueued (): void {
    const [entrant] = this.all('queued')

    if (entrant?.attempt != null && this.all('connecting').length === 0) {
      entrant.attempt.place?.release()
      entrant.attempt.place = undefined
      this.#connect(entrant, entrant.attempt)
    }
  }

  /** Ends the attempt, which may be made again */
  end (entrant: Entrant): void {
    const attempt = this.forget(entrant)

    attempt?.place?.release()
    attempt?.controller.abort(abandonedError())
  }

  /** It is under way no more */
  forget (entrant: Entrant): Attempt | undefined {
    const { attempt } = entrant

    entrant.attempt = undefined
    this.#entrants.delete(entrant)

    return attempt
  }

  #ask (entrant: Entrant, attempt: Attempt, mayDial: NonNullable<UnderWayInit['mayDial']>): void {
    mayDial(entrant.ma).then(isAllowed => {
      if (entrant.attempt !== attempt) {
        return
      }

      if (isAllowed) {
        entrant.isAllowed = true
        this.#takePlace(entrant, attempt)
      } else {
        this.#onFailure(entrant, attempt, deniedError(entrant.ma))
      }
    }, err => { this.#onFailure(entrant, attempt, err) }).catch(this.#init.onCrash)
  }

  #takePlace (entrant: Entrant, attempt: Attempt): void {
    if (this.all('connecting').length === 0) {
      this.#connect(entrant, attempt)
      return
    }

    entrant.state = 'queued'
    attempt.place = this.#init.places.ask({
      granted: () => { this.#connect(entrant, attempt) },
      evicted: () => { this.#onFailure(entrant, attempt, silentError(entrant, attempt, 'other dials needed its place')) }
    })
  }

  #connect (entrant: Entrant, attempt: Attempt): void {
    const { dial, onConnection, onCrash, pace } = this.#init

    entrant.state = 'connecting'
    attempt.since = performance.now()
    dial(entrant, attempt.controller.signal, {
      onConnected: (socket, isPending) => { this.#onConnected(entrant, attempt, socket, isPending) },
      maySynWait: pace.started === 1
    }).then(
      connection => { onConnection(entrant, connection, entrant.attempt !== attempt) },
      err => { this.#onFailure(entrant, attempt, err) }
    ).catch(onCrash)
  }

  #onConnected (entrant: Entrant, attempt: Attempt, socket: Socket, isPending: boolean): void {
    if (entrant.attempt === attempt) {
      attempt.socket = socket
      this.#init.onConnected(entrant, isPending)
    }

    if (entrant.attempt !== attempt) {
      // it connected in the same moment as another
      throw abandonedError()
    }
  }

  #onFailure (entrant: Entrant, attempt: Attempt, error: Error): void {
    if (entrant.attempt === attempt) {
      this.#init.onFailure(entrant, attempt, error)
    }
  }
}
