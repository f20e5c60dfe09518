import { endpointName } from '../addresses.ts'
import { MAX_TIMEOUT } from '../check-options.ts'
import { PlanError } from '../connector.ts'
import { connectTimeoutError } from '../errors.ts'
import { afterPoll } from '../event-loop/after-poll.ts'
import { DialedSocket, connectError } from './dialed-socket.ts'
import { firstPlan, nextPlan } from './plan.ts'
import type { Address } from './address.ts'
import type { Dial } from './context.ts'
import type { Plan } from './plan.ts'
import type { Target } from '../connector.ts'
import type { Connection } from '@libp2p/interface'

/**
 * - `waiting`: its turn has not come
 * - `asking`: the connection gater is asked
 * - `looking up`: its address is a name
 * - `queued`: too many sockets of the node wait for an answer
 * - `connecting`: its SYN is not answered yet
 * - `upgrading`: it is connected, and upgraded
 * - `failed`: with an error
 * - `ended`: it was not needed, and may be made {@link Attempt.again}
 */
export type AttemptState = 'waiting' | 'asking' | 'looking up' | 'queued' | 'connecting' | 'upgrading' | 'failed' | 'ended'

/**
 * The attempt to reach one target of an address. It connects, and then upgrades: several connect in a race, and the first is upgraded.
 */
export class Attempt {
  readonly address: Address

  /** Unknown until a name is looked up */
  target?: Target

  /** When it is due, in ms from the beginning of the race. `Infinity`: when there is nothing else to do */
  at: number
  state: AttemptState = 'waiting'

  /** How many others were made before it */
  readonly earlier: number

  /** When it began, or began to connect, by the clock of `performance.now()` */
  since = 0
  connectedAt?: number

  /** Gives its place among those that wait for an answer back, or the wish for one */
  releasePlace?: () => void

  /** Ends its wait for a place */
  goWithoutPlace?: () => void
  readonly #controller = new AbortController()
  #dial?: Dial
  #cancelTimeout?: () => void
  #socket?: DialedSocket

  constructor (address: Address, at: number, target?: Target, earlier = 0) {
    this.address = address
    this.at = at
    this.target = target
    this.earlier = earlier
  }

  /** Fires when it is ended */
  get signal (): AbortSignal {
    return this.#controller.signal
  }

  get isConnected (): boolean {
    return this.#socket?.isConnected === true
  }

  /** The peer has said something */
  get hasAnswered (): boolean {
    return this.#socket?.hasAnswered === true
  }

  begin (dial: Dial): void {
    this.#dial = dial
    this.since = performance.now()
    this.#bound(this.address.since)
  }

  end (state: 'failed' | 'ended', reason: Error): void {
    this.state = state
    this.#cancelTimeout?.()
    this.releasePlace?.()
    this.#controller.abort(reason)
  }

  /** Another dial needs its place. It fails as a connect that the kernel gives up */
  evict (): void {
    const waited = Math.round(performance.now() - this.since)

    this.#controller.abort(Object.assign(new Error(`no answer for ${waited} ms, and other dials needed its place`), { code: 'ETIMEDOUT' }))
  }

  /** One that has not begun yet, to the same target */
  again (): Attempt {
    return new Attempt(this.address, Infinity, this.target, this.earlier + 1)
  }

  /**
   * Opens a socket: by the first plan, or by the next one for as long as there is one. The peer has received a SYN then, and data
   * at most if it waited for that.
   *
   * @throws {Error} why it could not be opened, or the signal's reason. No socket is left then
   */
  async connect (mayUseFastOpen: boolean): Promise<void> {
    const { options, parts: { refusals, settings } } = this.#dial as Dial
    const refusedAt = refusals.get(this.#key)

    this.since = performance.now()
    await this.#open(firstPlan(mayUseFastOpen, settings, options, refusedAt == null ? undefined : this.since - refusedAt))
  }

  /**
   * Runs the upgrade on the socket. If that shows that another plan may do better, connects once more, by that plan.
   *
   * @throws {Error} the upgrader's error, or what a connect rejects with. No socket is left then
   */
  async upgrade (): Promise<Connection> {
    const dial = this.#dial as Dial

    for (;;) {
      const socket = this.#socket as DialedSocket

      try {
        const connection = await socket.upgrade()

        this.#cancelTimeout?.()

        // The second dial worked, so optimism was the cause of the refusal. A peer that has too many connections, say,
        // refuses both dials and is not remembered
        if (socket.plan.negotiation.name === 'redial') {
          dial.parts.refusals.set(this.#key, performance.now())
        }

        return connection
      } catch (err) {
        const next = this.#otherwise(socket.plan, err)

        dial.report.began(this.address, dial.settings.socket)
        this.#bound(performance.now())
        await this.#open(next).catch(err => { throw connectError(dial, this.address, this.signal, err) })
      }
    }
  }

  /** The same whether the multiaddr has a peer id or not */
  get #key (): string {
    return endpointName(this.target as Target)
  }

  /** Bounds it by the option `timeout`, until it is connected */
  #bound (since: number): void {
    const { timeout = 0 } = (this.#dial as Dial).settings.socket

    if (timeout > 0) {
      this.#cancelTimeout = afterPoll(Math.max(1, Math.min(timeout, MAX_TIMEOUT) - (performance.now() - since)), () => {
        if (!this.hasAnswered) {
          this.#controller.abort(connectTimeoutError(this.address.name, since))
        }
      })
    }
  }

  async #open (plan: Plan): Promise<void> {
    const { signal } = this
    const dial = this.#dial as Dial

    try {
      const opened = await dial.parts.connector.open(this.target as Target, dial.settings.socket, signal, plan)
      this.#socket = new DialedSocket(dial, this.address, plan, opened, signal)
    } catch (err: any) {
      const next = signal.aborted ? undefined : nextPlan(plan, err)

      if (next == null) {
        throw err instanceof PlanError ? err.cause : err
      }

      return this.#open(next)
    }

    if (signal.aborted) {
      this.#socket.discard()
      throw signal.reason
    }

    if (this.#socket.isConnected) {
      this.#cancelTimeout?.()
    }
  }

  /**
   * The plan after an upgrade that failed.
   *
   * @throws {Error} what the attempt rejects with, if there is none
   */
  #otherwise (plan: Plan, err: unknown): Plan {
    const { parts: { metrics }, report } = this.#dial as Dial
    const next = nextPlan(plan, err)

    if (!(err instanceof PlanError)) {
      throw err
    }

    if (next == null || this.signal.aborted) {
      throw err.cause
    }

    if (err.reason === 'refused') {
      metrics?.optimistic?.increment({ redialed: true })
    }

    report.redials(this.address, err)

    return next
  }
}
