import { NotStartedError } from '@libp2p/interface'
import { afterPoll } from '../../event-loop/after-poll.ts'
import { abandonedError, abortedError, silentError } from './errors.ts'
import { Pace } from './pace.ts'
import { beginPatience, judgeUnfinished, patienceUntil } from './patience.ts'
import { UnderWay } from './under-way.ts'
import type { Attempt, Entrant } from './entrant.ts'
import type { RaceInit } from './init.ts'
import type { Connection } from '@libp2p/interface'

/**
 * - `connecting`: no address is connected yet
 * - `upgrading`: the first that connected is upgraded. No attempt begins meanwhile, and those that were under way were given
 * up: a peer that is alive is not to be bothered twice
 * - `suspicious`: that upgrade failed or takes long, so each address that connects is upgraded at once
 * - `over`: the race is won or lost
 */
type RaceState = 'connecting' | 'upgrading' | 'suspicious' | 'over'

/**
 * Dials the addresses of one peer until one of them is connected and upgraded. An address is begun twice at most: once more if
 * it was given up for one that connected first, whose upgrade then failed.
 */
export class Race {
  readonly #init: RaceInit
  readonly #waiting: Entrant[]
  readonly #underWay: UnderWay
  readonly #pace: Pace
  readonly #result = Promise.withResolvers<Connection>()
  #state: RaceState
  #cancelTimer?: () => void

  constructor (init: RaceInit) {
    const { delay, dial, driver, entrants, isSuspicious, mayDial, places } = init

    this.#init = init
    this.#waiting = [...entrants]
    this.#state = isSuspicious ? 'suspicious' : 'connecting'
    this.#pace = new Pace(entrants.length, delay)
    this.#underWay = new UnderWay({
      driver,
      mayDial,
      places,
      pace: this.#pace,
      dial: async ({ ma }, signal, hooks) => dial(ma, signal, hooks),
      onConnected: (entrant, isPending) => { this.#onConnected(entrant, isPending) },
      onConnection: (entrant, connection, isOver) => { this.#onConnection(entrant, connection, isOver) },
      onFailure: (entrant, attempt, error) => { this.#onFailure(entrant, attempt, error) },
      // a logger of somebody else throws: the dial fails, and the process goes on
      onCrash: err => { this.#lose(err) }
    })
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

  /** Begins what is due, and waits for what is due next */
  #next (): void {
    this.#cancelTimer?.()
    this.#noticeAnswers()
    this.#underWay.connectQueued()

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

    if (this.#underWay.size === 0) {
      this.#lose(this.#init.driver.error)
    }
  }

  /** When the next attempt is due: no earlier than the patience with an upgrade ends */
  #dueTime (): number {
    const alone = this.#aloneUntil()

    return alone == null ? this.#pace.due(this.#underWay.size) : Math.max(this.#pace.soonest, alone)
  }

  /** Until when a connection is upgraded alone, if one is */
  #aloneUntil (): number | undefined {
    const { delay, log } = this.#init

    if (this.#state !== 'upgrading') {
      return
    }

    const [{ ma, attempt }] = this.#underWay.all('upgrading')
    const until = attempt == null ? undefined : patienceUntil(attempt, delay)

    if (until == null) {
      log('the upgrade of the connection to %a takes long', ma)
      this.#state = 'suspicious'
    }

    return until
  }

  #start (entrant: Entrant): void {
    if (this.#pace.started > 0) {
      this.#init.log('no connection after %d ms, dialing %a too', Math.round(this.#pace.age), entrant.ma)
    }

    this.#pace.start()
    this.#underWay.start(entrant)
  }

  #onConnected (entrant: Entrant, isPending: boolean): void {
    // one that has said something is ahead of one that has only connected
    this.#noticeAnswers()

    if (entrant.state === 'connecting' && !isPending) {
      this.#beginUpgrade(entrant)
    }
  }

  /** With TCP Fast Open only what comes back shows that the peer has answered the SYN */
  #noticeAnswers (): void {
    for (const entrant of this.#underWay.all('connecting').filter(hasAnswered)) {
      this.#beginUpgrade(entrant)
    }
  }

  #beginUpgrade (entrant: Entrant): void {
    const { attempt } = entrant

    entrant.state = 'upgrading'
    attempt?.place?.release()

    if (this.#state !== 'connecting' || attempt == null) {
      return
    }

    this.#state = 'upgrading'
    beginPatience(attempt, this.#init.delay)

    for (const other of this.#underWay.all().filter(other => other !== entrant)) {
      this.#giveUp(other)
      this.#waiting.push(other)
    }

    this.#next()
  }

  #onConnection (entrant: Entrant, connection: Connection, isOver: boolean): void {
    const { experience, log, peer } = this.#init

    if (this.#state === 'over' || isOver) {
      // upgraded in the same moment as another
      abandon(connection)
      return
    }

    experience.reached(peer, entrant.name, entrant.endpoint)
    this.#state = 'over'
    this.#result.resolve(connection)

    if (this.#pace.started > 1) {
      log('the dial to %s took %d ms and %d attempts, %a was first', peer, Math.round(this.#pace.age), this.#pace.started, entrant.ma)
    }

    this.#underWay.forget(entrant)
  }

  #onFailure (entrant: Entrant, attempt: Attempt, error: Error): void {
    const { experience, log, peer } = this.#init

    if (this.#state === 'over') {
      return
    }

    log('%a failed after %d ms - %e', entrant.ma, Math.round(performance.now() - attempt.since), error)
    experience.failed(peer, entrant.name, entrant.endpoint, error)

    if (entrant.state === 'upgrading' && this.#state === 'upgrading') {
      this.#state = 'suspicious'
    }

    this.#underWay.end(entrant)
    setFailed(entrant, error)
    this.#pace.fail()
    this.#next()
  }

  /** Ends an attempt that may be made again */
  #giveUp (entrant: Entrant): void {
    const { delay, experience, peer } = this.#init
    const { attempt, state } = entrant

    if (state === 'connecting' && attempt != null && !hasAnswered(entrant) && performance.now() - attempt.since >= delay) {
      experience.wasSilent(peer, entrant.name)
    }

    this.#underWay.end(entrant)
    entrant.state = 'waiting'
  }

  #lose (error?: Error): void {
    if (this.#state !== 'over') {
      this.#state = 'over'
      this.#result.reject(error)
      this.#end()
    }
  }

  readonly #onTimer = (): void => {
    try {
      this.#next()
    } catch (err: any) {
      this.#lose(err)
    }
  }

  readonly #onStop = (): void => {
    this.#lose(new NotStartedError('The transport was stopped'))
  }

  /**
   * Either the dial is over, or its first address has had its time (`addressDialTimeout`) and libp2p comes to the next one. Those
   * that have been silent for as long have failed too.
   */
  readonly #onAbort = (): void => {
    const { entrants, log, peer, signal } = this.#init
    const { age, started } = this.#pace

    if (this.#state !== 'over') {
      this.#judgeAll()
      log('the dial to %s was aborted after %d ms and %d attempts', peer, Math.round(age), started)
      this.#lose(abortedError(signal, started > 1 ? entrants : []))
    }
  }

  #judgeAll (): void {
    const { delay, experience, peer } = this.#init

    for (const entrant of this.#underWay.all('connecting', 'upgrading')) {
      const { attempt, state, starts } = entrant

      if (attempt == null) {
        continue
      }

      const { isSilent, isFailed } = judgeUnfinished(hasAnswered(entrant) ? 'upgrading' : state as 'connecting' | 'upgrading', starts, attempt, delay, this.#pace.age)

      if (isSilent) {
        experience.wasSilent(peer, entrant.name)
      }

      if (isFailed) {
        setFailed(entrant, silentError(entrant, attempt))
      }
    }
  }

  #end (): void {
    this.#state = 'over'
    this.#cancelTimer?.()

    for (const entrant of this.#underWay.all()) {
      if (entrant.state === 'failed') {
        this.#underWay.end(entrant)
      } else {
        this.#giveUp(entrant)
      }
    }
  }
}

function hasAnswered ({ attempt }: Entrant): boolean {
  return (attempt?.socket?.bytesRead ?? 0) > 0
}

function setFailed (entrant: Entrant, error: Error): void {
  entrant.state = 'failed'
  entrant.error = error
}

/** Its muxer may try to send a last message */
function abandon (connection: Connection): void {
  try {
    connection.abort(abandonedError())
  } catch {
    // the other one counts
  }
}
