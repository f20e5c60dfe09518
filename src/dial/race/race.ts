import { NotStartedError } from '@libp2p/interface'
import { abortError } from '../../errors.ts'
import { afterPoll } from '../../event-loop/after-poll.ts'
import { printable } from '../../printable.ts'
import { MIN_ATTEMPT_DELAY } from '../stagger.ts'
import { abandonedError, deniedError, silentError } from './errors.ts'
import { startTimes } from './ranking.ts'
import type { Attempt, Entrant, EntrantState } from './entrant.ts'
import type { Experience } from './experience.ts'
import type { Places } from './places.ts'
import type { Connection, Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

/** How long the upgrade of a connection may take before other addresses are tried too, in ms, if the peer has said nothing */
const MAX_MUTE = 1_000

/** ... and if it has */
const MAX_UPGRADE = 2_000

/** A silent address has had its time after this many ms: the kernel has sent its third SYN, and nothing came. go-libp2p waits as long */
const SILENCE = 5_000

/**
 * - `connecting`: no address is connected yet
 * - `upgrading`: the first that connected is upgraded. No attempt begins meanwhile, and those that were under way were given
 * up: a peer that is alive is not to be bothered twice
 * - `suspicious`: that upgrade failed or takes long, so each address that connects is upgraded at once
 * - `over`: the race is won or lost
 */
type RaceState = 'connecting' | 'upgrading' | 'suspicious' | 'over'

/** What the race wants to hear from a dial, and may decide */
export interface DialHooks {
  /**
   * The socket is connected, and nothing was sent. `isPending`: with TCP Fast Open the SYN still waits for the first write
   *
   * @throws {AbortError} if the connection is not needed any more
   */
  onConnected(socket: Socket, isPending: boolean): void

  /** Whether the SYN may wait for data */
  maySynWait: boolean
}

export interface RaceInit {
  peer: string

  /** The address that libp2p dials: its signal ends the race */
  driver: Entrant

  /** In the order in which they are tried, the driver among them */
  entrants: Entrant[]
  delay: number

  /** An upgrade has failed earlier in this dial */
  isSuspicious: boolean
  signal: AbortSignal

  /** The transport stops */
  stopping: AbortSignal
  places: Places
  experience: Experience
  log: Logger

  /** Asks the connection gater, which libp2p has asked about the driver */
  mayDial?(ma: Multiaddr): Promise<boolean>
  dial(ma: Multiaddr, signal: AbortSignal, hooks: DialHooks): Promise<Connection>
}

/**
 * Dials the addresses of one peer until one of them is connected and upgraded. An address is begun twice at most: once more if
 * it was given up for one that connected first, whose upgrade then failed.
 */
export class Race {
  readonly #init: RaceInit
  readonly #waiting: Entrant[]
  readonly #underWay = new Set<Entrant>()
  readonly #times: number[]
  readonly #result = Promise.withResolvers<Connection>()
  readonly #began = performance.now()
  #state: RaceState
  #cancelTimer?: () => void

  /** How many attempts have begun */
  #started = 0
  #lastStart = -Infinity

  /** How many have failed, and were not replaced yet */
  #failed = 0

  constructor (init: RaceInit) {
    this.#init = init
    this.#waiting = [...init.entrants]
    this.#state = init.isSuspicious ? 'suspicious' : 'connecting'
    this.#times = startTimes(init.entrants.length, init.delay)
  }

  /**
   * @throws {AbortError} if the signal fires
   * @throws {NotStartedError} if the transport stops
   * @throws {Error} that of the driver if all fail: the others have theirs
   */
  async run (): Promise<Connection> {
    const { signal, stopping } = this.#init

    signal.addEventListener('abort', this.#onAbort)
    stopping.addEventListener('abort', this.#onStop)

    try {
      if (signal.aborted) {
        this.#onAbort()
      } else {
        this.#next()
      }

      return await this.#result.promise
    } finally {
      signal.removeEventListener('abort', this.#onAbort)
      stopping.removeEventListener('abort', this.#onStop)
      this.#end()
    }
  }

  /** A logger of somebody else throws: the dial fails, and the process goes on */
  readonly #onCrash = (err: Error): void => {
    this.#state = 'over'
    this.#result.reject(err)
    this.#end()
  }

  readonly #onTimer = (): void => {
    try {
      this.#next()
    } catch (err: any) {
      this.#onCrash(err)
    }
  }

  /** Begins what is due, and waits for what is due next */
  #next (): void {
    this.#cancelTimer?.()
    this.#noticeAnswers()
    this.#connectQueued()

    while (this.#state !== 'over' && this.#waiting.length > 0) {
      const due = this.#dueTime()

      // timers tick in whole milliseconds
      if (due > performance.now() + 0.5) {
        this.#cancelTimer?.()
        // an answer may have come while the event loop was busy
        this.#cancelTimer = afterPoll(Math.max(1, due - performance.now()), this.#onTimer)
        return
      }

      this.#start(this.#waiting.shift() as Entrant)
    }

    if (this.#state !== 'over' && this.#underWay.size === 0) {
      this.#lose()
    }
  }

  /** When the next attempt is due */
  #dueTime (): number {
    const soonest = this.#lastStart + MIN_ATTEMPT_DELAY
    const alone = this.#aloneUntil()

    if (alone != null) {
      return Math.max(soonest, alone)
    }

    if (this.#failed > 0 || this.#underWay.size === 0 || this.#started >= this.#times.length) {
      return soonest
    }

    return Math.max(soonest, this.#began + this.#times[this.#started])
  }

  /** Until when a connection is upgraded alone, if one is */
  #aloneUntil (): number | undefined {
    const { delay, log } = this.#init

    if (this.#state !== 'upgrading') {
      return
    }

    const [{ ma, attempt }] = this.#all('upgrading')
    const { connected = 0, lateAt = 0, since = 0, socket } = attempt ?? {}

    if (attempt == null || performance.now() < lateAt - 0.5) {
      return lateAt
    }

    // it may negotiate in full, or be busy
    if (socket != null && socket.bytesRead > 0 && attempt.hasSpoken !== true) {
      attempt.hasSpoken = true
      attempt.lateAt = Math.min(since + Math.max(4 * delay, 10 * (connected - since)), connected + MAX_UPGRADE)

      return attempt.lateAt
    }

    log('the upgrade of the connection to %a takes long', ma)
    this.#state = 'suspicious'
  }

  #start (entrant: Entrant): void {
    const { driver, mayDial } = this.#init

    this.#logStart(entrant)
    this.#started++
    this.#failed = Math.max(0, this.#failed - 1)
    this.#lastStart = performance.now()
    this.#underWay.add(entrant)
    entrant.starts++

    const attempt: Attempt = entrant.attempt = { controller: new AbortController(), since: performance.now() }

    if (entrant === driver || entrant.isAllowed || mayDial == null) {
      this.#takePlace(entrant, attempt)
      return
    }

    entrant.state = 'asking'
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
    }, err => { this.#onFailure(entrant, attempt, err) }).catch(this.#onCrash)
  }

  #takePlace (entrant: Entrant, attempt: Attempt): void {
    if (this.#all('connecting').length === 0) {
      this.#connect(entrant, attempt)
      return
    }

    entrant.state = 'queued'
    attempt.place = this.#init.places.ask({
      granted: () => { this.#connect(entrant, attempt) },
      evicted: () => { this.#onFailure(entrant, attempt, silentError(entrant, attempt, 'other dials needed its place')) }
    })
  }

  /** The only one that connects needs no place */
  #connectQueued (): void {
    const [entrant] = this.#all('queued')

    if (entrant?.attempt != null && this.#all('connecting').length === 0) {
      entrant.attempt.place?.release()
      entrant.attempt.place = undefined
      this.#connect(entrant, entrant.attempt)
    }
  }

  #connect (entrant: Entrant, attempt: Attempt): void {
    const { controller } = attempt

    entrant.state = 'connecting'
    attempt.since = performance.now()
    this.#init.dial(entrant.ma, controller.signal, {
      onConnected: (socket, isPending) => { this.#onConnected(entrant, attempt, socket, isPending) },
      maySynWait: this.#started === 1
    }).then(
      connection => { this.#onConnection(entrant, attempt, connection) },
      err => { this.#onFailure(entrant, attempt, err) }
    ).catch(this.#onCrash)
  }

  #onConnected (entrant: Entrant, attempt: Attempt, socket: Socket, isPending: boolean): void {
    if (entrant.attempt !== attempt) {
      // it connected in the same moment as another
      throw abandonedError()
    }

    attempt.socket = socket

    if (entrant.state === 'connecting' && !isPending) {
      this.#beginUpgrade(entrant, attempt)
    }
  }

  /** With TCP Fast Open only what comes back shows that the peer has answered the SYN */
  #noticeAnswers (): void {
    for (const entrant of this.#all('connecting')) {
      const { attempt } = entrant

      if (attempt?.socket != null && attempt.socket.bytesRead > 0) {
        this.#beginUpgrade(entrant, attempt)
      }
    }
  }

  #beginUpgrade (entrant: Entrant, attempt: Attempt): void {
    const { delay } = this.#init
    const now = performance.now()

    entrant.state = 'upgrading'
    attempt.place?.release()

    if (this.#state !== 'connecting') {
      return
    }

    this.#state = 'upgrading'
    attempt.connected = now
    // two round trips after it has connected, a peer that is alive has answered
    attempt.lateAt = Math.min(attempt.since + Math.max(delay, 3 * (now - attempt.since)), now + MAX_MUTE)

    for (const other of this.#underWay) {
      if (other !== entrant) {
        this.#giveUp(other)
        this.#waiting.push(other)
      }
    }

    this.#next()
  }

  #onConnection (entrant: Entrant, attempt: Attempt, connection: Connection): void {
    const { experience, log, peer } = this.#init

    if (this.#state === 'over' || entrant.attempt !== attempt) {
      // upgraded in the same moment as another
      abandon(connection)
      return
    }

    experience.reached(peer, entrant.name, entrant.endpoint)
    this.#state = 'over'
    this.#result.resolve(connection)

    if (this.#started > 1) {
      log('the dial to %s took %d ms and %d attempts, %a was first', peer, Math.round(this.#age()), this.#started, entrant.ma)
    }

    entrant.attempt = undefined
    this.#underWay.delete(entrant)
  }

  #onFailure (entrant: Entrant, attempt: Attempt, error: Error): void {
    const { experience, log, peer } = this.#init

    if (this.#state === 'over' || entrant.attempt !== attempt) {
      return
    }

    log('%a failed after %d ms - %e', entrant.ma, Math.round(performance.now() - attempt.since), error)
    experience.failed(peer, entrant.name, entrant.endpoint, error)

    if (entrant.state === 'upgrading' && this.#state === 'upgrading') {
      this.#state = 'suspicious'
    }

    this.#endAttempt(entrant)
    this.#setFailed(entrant, error)
    this.#failed++
    this.#next()
  }

  #setFailed (entrant: Entrant, error: Error): void {
    entrant.state = 'failed'
    entrant.error = error
  }

  /** Ends an attempt that may be made again */
  #giveUp (entrant: Entrant): void {
    const { delay, experience, peer } = this.#init
    const { attempt, state } = entrant

    if (state === 'connecting' && attempt != null && performance.now() - attempt.since >= delay) {
      experience.wasSilent(peer, entrant.name)
    }

    this.#endAttempt(entrant)
    entrant.state = 'waiting'
  }

  #endAttempt (entrant: Entrant): void {
    const { attempt } = entrant

    entrant.attempt = undefined
    this.#underWay.delete(entrant)
    attempt?.place?.release()
    attempt?.controller.abort(abandonedError())
  }

  #lose (): void {
    const { driver } = this.#init

    this.#state = 'over'
    this.#result.reject(driver.error)
  }

  readonly #onStop = (): void => {
    if (this.#state !== 'over') {
      this.#state = 'over'
      this.#result.reject(new NotStartedError('The transport was stopped'))
      this.#end()
    }
  }

  /**
   * Either the dial is over, or its first address has had its time (`addressDialTimeout`) and libp2p comes to the next one. Those
   * that have been silent for as long have failed too.
   */
  readonly #onAbort = (): void => {
    const { delay, entrants, experience, log, peer, signal } = this.#init

    if (this.#state === 'over') {
      return
    }

    this.#state = 'over'
    const enough = Math.min(SILENCE, this.#age() / 2)

    for (const entrant of this.#underWay) {
      const { attempt } = entrant

      if (attempt == null || !['connecting', 'upgrading'].includes(entrant.state)) {
        continue
      }

      const waited = performance.now() - attempt.since

      // the caller may have given up early, and a slow upgrade is no silence
      if (waited >= (entrant.state === 'connecting' ? delay : SILENCE)) {
        experience.wasSilent(peer, entrant.name)
      }

      if (entrant.starts > 1 || waited >= enough) {
        this.#setFailed(entrant, silentError(entrant, attempt))
      }
    }

    const error = abortError(signal)

    if (this.#started > 1) {
      error.message += printable(`: ${entrants.map(entrant => this.#describe(entrant)).join('; ')}`)
    }

    log('the dial to %s was aborted after %d ms and %d attempts', peer, Math.round(this.#age()), this.#started)
    this.#result.reject(error)
    this.#end()
  }

  #end (): void {
    this.#state = 'over'
    this.#cancelTimer?.()

    for (const entrant of [...this.#underWay]) {
      if (entrant.state === 'failed') {
        this.#endAttempt(entrant)
      } else {
        this.#giveUp(entrant)
      }
    }
  }

  #all (state: EntrantState): Entrant[] {
    return [...this.#underWay].filter(entrant => entrant.state === state)
  }

  #age (): number {
    return performance.now() - this.#began
  }

  #describe ({ ma, state, error, attempt }: Entrant): string {
    if (error != null) {
      return `${ma}: ${error.message}`
    }

    return `${ma}: ${attempt == null ? 'not dialed' : `${state} for ${Math.round(performance.now() - attempt.since)} ms`}`
  }

  #logStart ({ ma }: Entrant): void {
    const { log } = this.#init

    if (this.#started > 0) {
      log('no connection after %d ms, dialing %a too', Math.round(this.#age()), ma)
    }
  }
}

/** Its muxer may try to send a last message */
function abandon (connection: Connection): void {
  try {
    connection.abort(abandonedError())
  } catch {
    // the other one counts
  }
}
