import { afterPoll } from '../event-loop/after-poll.ts'
import { Attempt } from './attempt.ts'
import { abandon } from './dialed-socket.ts'
import { abandonedError, abortedError, asOne, stoppedError } from './errors.ts'
import { patienceUntil } from './patience.ts'
import { PeerNotes } from './peer-notes.ts'
import { startTimes } from './rank.ts'
import { askGater, findTarget, takePlace } from './ready.ts'
import { Schedule } from './schedule.ts'
import type { Address } from './address.ts'
import type { AttemptState } from './attempt.ts'
import type { RaceInit } from './context.ts'
import type { Target } from '../connector.ts'
import type { Connection } from '@libp2p/interface'

/**
 * - `connecting`: nothing is connected yet
 * - `upgrading`: the first that connected is upgraded. No attempt begins meanwhile, and those that were under way were given
 * up: a peer that is alive is not to be bothered twice
 * - `suspicious`: that upgrade failed or takes long, so each that connects is upgraded at once
 * - `over`: the race is won or lost
 */
type RaceState = 'connecting' | 'upgrading' | 'suspicious' | 'over'

/**
 * Makes the attempts of a dial until one of them is connected and upgraded ("happy eyeballs", RFC 8305): the next one when
 * the one before fails, or takes long. An address that was given up for one whose upgrade then failed is tried once more.
 */
export class Race {
  readonly #init: RaceInit
  readonly #addresses: Set<Address>
  readonly #schedule: Schedule

  /** Set if it is a race of several addresses */
  readonly #notes?: PeerNotes
  readonly #underWay = new Set<Attempt>()
  readonly #result = Promise.withResolvers<Connection>()
  #state: RaceState
  #cancelTimer?: () => void

  /** `attempts` are in the order in which they are made. The driver's is among them */
  constructor (attempts: Attempt[], init: RaceInit) {
    this.#init = init
    this.#addresses = new Set(attempts.map(({ address }) => address))
    this.#schedule = new Schedule(attempts)
    this.#notes = init.siblings == null ? undefined : new PeerNotes(init.siblings, this.#schedule, init.dial.parts.log)
    this.#state = init.siblings?.isSuspicious === true ? 'suspicious' : 'connecting'
  }

  /** Those that a later race may make */
  get left (): readonly Attempt[] {
    return this.#schedule.waiting
  }

  /**
   * @throws {AbortError} if the signal fires
   * @throws {TCPConnectError} if the transport stops
   * @throws {Error} that of the driver if all fail: the other addresses have theirs
   */
  async run (): Promise<Connection> {
    const { dial: { options: { signal } }, stopping } = this.#init

    signal.addEventListener('abort', this.#onAbort)
    stopping.addEventListener('abort', this.#onStop)

    try {
      if (signal.aborted) {
        this.#onAbort()
      } else if (stopping.aborted) {
        this.#onStop()
      } else {
        this.#next()
      }

      return await this.#result.promise
    } finally {
      signal.removeEventListener('abort', this.#onAbort)
      stopping.removeEventListener('abort', this.#onStop)
    }
  }

  #all (state: AttemptState): Attempt[] {
    return [...this.#underWay].filter(attempt => attempt.state === state)
  }

  /** Begins what is due, and waits for what is due next */
  readonly #next = (): void => {
    this.#cancelTimer?.()
    this.#noticeAnswers()

    if (this.#all('connecting').length === 0) {
      // the only one that connects needs no place
      this.#all('queued')[0]?.goWithoutPlace?.()
    }

    while (this.#state !== 'over' && this.#schedule.waiting.length > 0) {
      const wait = this.#due() - performance.now()

      // timers tick in whole milliseconds
      if (wait > 0.5) {
        // an answer may have come while the event loop was busy
        this.#cancelTimer = afterPoll(Math.max(1, wait), this.#next)
        return
      }

      const attempt = this.#schedule.next()

      this.#notes?.begins(attempt)
      this.#underWay.add(attempt)
      attempt.address.underWay++
      void this.#run(attempt)
    }

    if (this.#underWay.size === 0) {
      this.#lose(this.#init.driver.error)
    }
  }

  /** When the next attempt is due, by the clock of `performance.now()` */
  #due (): number {
    const alone = this.#aloneUntil()

    return alone == null ? this.#schedule.due(this.#underWay.size) : Math.max(this.#schedule.soonest, alone)
  }

  /** Until when a connection is upgraded alone, if one is */
  #aloneUntil (): number | undefined {
    const { delay, dial: { parts: { log } } } = this.#init
    const [attempt] = this.#all('upgrading')

    if (this.#state !== 'upgrading' || attempt == null) {
      return
    }

    const until = patienceUntil(attempt, delay)

    if (performance.now() < until - 0.5) {
      return until
    }

    log('the upgrade of the connection to %a takes long', attempt.address.ma)
    this.#state = 'suspicious'
  }

  async #run (attempt: Attempt): Promise<void> {
    const { dial, driver, lookUps, maxTargets, places, siblings } = this.#init
    const { address } = attempt

    try {
      if (siblings?.mayDial != null && address !== driver && !address.isAllowed) {
        await askGater(attempt, siblings.mayDial)
      }

      dial.report.began(address, dial.settings.socket)
      attempt.begin(dial)
    } catch (err: any) {
      this.#onFailure(attempt, err)
      return
    }

    try {
      this.#add(address, await findTarget(attempt, dial.settings.socket, lookUps, maxTargets))

      // the only one that connects needs no place
      if (this.#all('connecting').length > 0) {
        await takePlace(attempt, places)
      }

      attempt.state = 'connecting'
      // a socket with Fast Open connects before the peer has answered, so that it would win every race
      await attempt.connect(this.#schedule.started === 1 && !this.#schedule.waiting.some(other => other.address === address))
    } catch (err: any) {
      this.#onConnectFailure(attempt, err)
      return
    }

    try {
      this.#noticeAnswers()
      this.#onConnection(attempt, await attempt.upgrade())
    } catch (err: any) {
      this.#onFailure(attempt, err)
    }
  }

  /** The other targets of a name get attempts of their own */
  #add (address: Address, targets: Target[]): void {
    if (targets.length > 0) {
      const times = startTimes(targets.length + 1, this.#init.nameDelay)

      this.#schedule.add(...targets.map((target, i) => new Attempt(address, this.#schedule.age + times[i + 1], target)))
      this.#next()
    }
  }

  /** With TCP Fast Open only what comes back shows that the peer has answered the SYN */
  #noticeAnswers (): void {
    this.#all('connecting').filter(({ isConnected }) => isConnected).forEach(attempt => { this.#beginUpgrade(attempt) })
  }

  #beginUpgrade (attempt: Attempt): void {
    // given up for another one just now
    if (attempt.state !== 'connecting') {
      return
    }

    attempt.state = 'upgrading'
    attempt.connectedAt = performance.now()
    attempt.releasePlace?.()

    if (this.#state !== 'connecting') {
      return
    }

    this.#state = 'upgrading';
    [...this.#underWay].filter(other => other !== attempt).forEach(other => { this.#giveUp(other) })

    // who names one address gets that one: the others of its targets are not needed any more
    if (this.#init.siblings == null) {
      this.#schedule.clear()
    }

    this.#next()
  }

  #onConnection (attempt: Attempt, connection: Connection): void {
    if (this.#state === 'over' || attempt.state === 'ended') {
      // upgraded in the same moment as another
      abandon(connection, abandonedError())
      return
    }

    this.#notes?.wins(attempt)
    this.#underWay.delete(attempt)
    attempt.state = 'ended'
    this.#end()
    this.#result.resolve(connection)
  }

  #onConnectFailure (attempt: Attempt, err: Error): void {
    const { address, signal, state } = attempt

    if (state === 'ended' || this.#state === 'over') {
      return
    }

    address.errors.push(signal.aborted ? signal.reason : err)
    this.#forget(attempt, err)

    // another target of the same name may do better
    if (![...this.#underWay, ...this.#schedule.waiting].some(other => other.address === address)) {
      this.#fail(attempt, this.#init.dial.report.failed(address, asOne(address.errors)))
    }

    this.#next()
  }

  #onFailure (attempt: Attempt, err: Error): void {
    if (attempt.state === 'ended' || this.#state === 'over') {
      return
    }

    if (attempt.state === 'upgrading' && this.#state === 'upgrading') {
      this.#state = 'suspicious'
    }

    this.#forget(attempt, err)
    this.#fail(attempt, err)
    this.#next()
  }

  #forget (attempt: Attempt, err: Error): void {
    this.#underWay.delete(attempt)
    attempt.address.underWay--
    attempt.end('failed', err)
    this.#schedule.fail()
  }

  #fail (attempt: Attempt, error: Error): void {
    attempt.address.error ??= error
    this.#notes?.fails(attempt, error)
  }

  /** Ends an attempt that may be made again */
  #giveUp (attempt: Attempt): void {
    const { address } = attempt

    this.#notes?.isGivenUp(attempt)
    this.#underWay.delete(attempt)
    this.#schedule.add(attempt.again())
    attempt.end('ended', abandonedError())

    if (--address.underWay === 0) {
      this.#init.dial.report.aborted(address)
    }
  }

  #lose (error?: Error): void {
    if (this.#state !== 'over') {
      this.#end()
      this.#result.reject(error)
    }
  }

  /** Leaves nothing but a connection that has won */
  #end (): void {
    this.#state = 'over'
    this.#cancelTimer?.()
    this.#underWay.forEach(attempt => { this.#giveUp(attempt) })
  }

  /** Either the dial is over, or its first address has had its time (`addressDialTimeout`) and libp2p comes to the next one */
  readonly #onAbort = (): void => {
    const { options: { signal } } = this.#init.dial
    const underWay = [...this.#underWay]

    if (this.#state !== 'over') {
      this.#notes?.isAborted(underWay)
      this.#lose(abortedError(signal, this.#notes != null && this.#schedule.started > 1 ? this.#addresses : [], underWay))
    }
  }

  readonly #onStop = (): void => { this.#lose(stoppedError(this.#init.driver)) }
}
