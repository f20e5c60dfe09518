import { ConnectionClosedError, TimeoutError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { endpointName } from '../addresses.ts'
import { MAX_TIMEOUT } from '../check-options.ts'
import { SocketConnection } from '../connection/socket-connection.ts'
import { FIRST_WRITE_TIMEOUT, PlanError } from '../connector.ts'
import { abortError, connectTimeoutError } from '../errors.ts'
import { afterPoll } from '../event-loop/after-poll.ts'
import { DialProposal } from '../optimistic/dial-proposal.ts'
import { describeNegotiation } from './negotiation-plan.ts'
import { firstPlan, nextPlan } from './plan.ts'
import type { Address } from './address.ts'
import type { TCPMetrics } from './metrics.ts'
import type { Plan } from './plan.ts'
import type { RememberedAddresses } from './remembered-addresses.ts'
import type { Report } from './report.ts'
import type { Lingering } from '../connection/fin-wait.ts'
import type { OpenSockets } from '../connection/open-sockets.ts'
import type { WireFilter } from '../connection/wire-filter.ts'
import type { Connector, OpenSocket, PortUse, Target } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { DialSettings, TransportSettings } from '../settings.ts'
import type { Connection, CounterGroup, Logger } from '@libp2p/interface'
import type { Socket } from 'node:net'

/** What all attempts of a transport share */
export interface AttemptInit {
  settings: TransportSettings

  connector: Connector
  lingering: Lingering

  /** All sockets of the transport. Each new one is added */
  sockets: OpenSockets

  /** Targets that refused to negotiate optimistically, and did not refuse the dial after that */
  refusals: RememberedAddresses

  /** Called with every connection before its upgrade, and the port that it left from */
  onConnection(maConn: SocketConnection, port?: PortUse): void
  metrics?: TCPMetrics
  log: Logger

  /** Of the connections */
  connectionLog: Logger
}

/** What all attempts of a dial share */
export interface Dial {
  init: AttemptInit
  settings: DialSettings
  options: TCPDialOptions
  report: Report
}

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
  #plan?: Plan
  #opened?: OpenSocket

  /** With TCP Fast Open: the peer had yet to answer the SYN when the socket was opened */
  #synWaits = false

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

  /** With TCP Fast Open only what comes back shows that the peer has answered the SYN */
  get isConnected (): boolean {
    return this.#opened != null && (this.hasAnswered || !this.#synWaits)
  }

  /** The peer has said something */
  get hasAnswered (): boolean {
    return (this.#opened?.socket.bytesRead ?? 0) > 0
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
    const { init: { refusals, settings }, options } = this.#dial as Dial

    this.since = performance.now()
    await this.#open(firstPlan(mayUseFastOpen, settings, options, refusals.age(endpointName(this.target as Target))))
  }

  /**
   * Runs the upgrade on the socket. If that shows that another plan may do better, connects once more, by that plan.
   *
   * @throws {Error} the upgrader's error, or what a connect rejects with. No socket is left then
   */
  async upgrade (): Promise<Connection> {
    const { init: { refusals }, report, settings } = this.#dial as Dial

    for (;;) {
      const plan = this.#plan as Plan

      try {
        const connection = await this.#upgradeOnce(plan)

        // The second dial worked, so optimism was the cause of the refusal. A peer that has too many connections, say,
        // refuses both dials and is not remembered
        if (plan.negotiation.name === 'redial') {
          refusals.add(endpointName(this.target as Target))
        }

        return connection
      } catch (err) {
        const next = this.#otherwise(plan, err)

        report.began(this.address, settings.socket)
        this.#bound(performance.now())
        await this.#open(next).catch(err => { throw this.#connectError(err) })
      }
    }
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
    const { init, settings } = this.#dial as Dial
    const target = this.target as Target

    for (;;) {
      try {
        this.#opened = await init.connector.open(target, settings.socket, signal, plan)
        this.#plan = plan
        break
      } catch (err: any) {
        const next = signal.aborted ? undefined : nextPlan(plan, err)

        if (next == null) {
          throw err instanceof PlanError ? err.cause : err
        }

        plan = next
      }
    }

    const { established, socket } = this.#opened

    init.sockets.add(socket)

    if (signal.aborted) {
      established?.end()
      socket.destroy()
      throw signal.reason
    }

    this.#synWaits = established?.look() === 'pending'

    if (!this.#synWaits) {
      this.#cancelTimeout?.()
    }
  }

  async #upgradeOnce (plan: Plan): Promise<Connection> {
    const { init: { log, metrics }, options } = this.#dial as Dial
    const opened = this.#opened as OpenSocket
    const isPending = this.#synWaits
    const { ma } = this.address
    const negotiation = plan.negotiation.name === 'optimistic' ? new DialProposal() : undefined
    const filter = options.initiator === false ? negotiation : opened.watch?.(negotiation) ?? negotiation
    const maConn = this.#toConnection(opened, isPending, filter)

    try {
      log('new outbound connection %a', ma)

      const connection = await this.#runUpgrader(maConn)
      log('negotiation with %a was %s', ma, describeNegotiation(plan.negotiation, negotiation))

      if (isPending) {
        await this.#established(opened)
      }

      // the encrypter or the muxer aborted it while the upgrader waited for something else
      if (maConn.status === 'aborted') {
        const error = maConn.closeError ?? new ConnectionClosedError(`The connection to ${ma} was aborted before it was upgraded`)
        abandon(connection, error)
        throw error
      }

      return connection
    } catch (err: any) {
      const connectError = isPending ? this.#lateError(opened, err) : undefined
      maConn.abort(err)

      if (connectError != null) {
        throw connectError
      }

      if (maConn.closeError instanceof PlanError) {
        throw new PlanError(maConn.closeError.reason, `The connection to ${ma} is one that the peer dialed too`, err)
      }

      log('negotiation with %a, which failed, was %s', ma, describeNegotiation(plan.negotiation, negotiation))

      // the bytes that came decide: the upgrader's error does not say why it failed
      if (negotiation?.state === 'refused' && !this.signal.aborted) {
        throw new PlanError('refused', `${ma} refused ${negotiation.protocol}`, err)
      }

      metrics?.errors.increment({ outbound_upgrade: true })
      log.error('error upgrading outbound connection - %e', err)
      throw err
    } finally {
      opened.established?.end()
      this.#countOutcome(negotiation)
    }
  }

  #toConnection ({ established, port, socket }: OpenSocket, isPending: boolean, filter?: WireFilter): SocketConnection {
    const { init, options, report, settings } = this.#dial as Dial

    try {
      if (port != null) {
        report.leftFrom(this.address, port)
      }

      if (!isPending) {
        report.opened(this.address, established?.outcome)
      }
    } catch (err: any) {
      // nobody else knows the socket
      socket.destroy()
      throw err
    }

    try {
      const maConn = new SocketConnection({
        socket,
        remoteAddr: this.address.ma,
        // muxers take their role from it: if two nodes dial each other at once, one must be the server
        direction: options.initiator === false ? 'inbound' : 'outbound',
        settings: settings.connection,
        lingering: init.lingering,
        filter,
        // the SYN carries the proposal of the encrypter and the first message of the handshake, in one write
        gather: isPending ? FIRST_WRITE_TIMEOUT : 0,
        metrics: isPending ? onceAnswered(socket, init.metrics?.events) : init.metrics?.events,
        log: init.connectionLog
      })

      init.onConnection(maConn, port)

      return maConn
    } catch (err: any) {
      init.metrics?.errors.increment({ outbound_to_connection: true })
      socket.destroy(err)
      throw err
    }
  }

  /** Not every await of the upgrade looks at the signal */
  async #runUpgrader (maConn: SocketConnection): Promise<Connection> {
    const { options } = this.#dial as Dial
    const { signal } = this

    return raceSignal(maConn.upgrade(async () => options.upgrader.upgradeOutbound(maConn, { ...options, signal })), signal, {
      translateError: () => abortError(signal)
    })
  }

  /** The upgrade is done. It has nearly always heard from the peer; if not, wait until the peer has answered the SYN */
  async #established ({ established, socket }: OpenSocket): Promise<void> {
    const { signal } = this

    if (socket.bytesRead === 0 && established != null) {
      await raceSignal(established.settled(), signal, { translateError: () => signal.reason })
    }

    const error = established?.look() === 'failed' ? established.error : undefined

    if (error != null) {
      throw error
    }

    this.#cancelTimeout?.()
    ;(this.#dial as Dial).report.opened(this.address, established?.outcome)
  }

  /** The upgrade over a socket with TCP Fast Open has failed. Was it ever connected? */
  #lateError ({ established, socket }: OpenSocket, err: Error): Error | undefined {
    if (established?.error instanceof PlanError) {
      return established.error
    }

    if (socket.bytesRead > 0 || established?.look() === 'established') {
      this.#cancelTimeout?.()
      ;(this.#dial as Dial).report.opened(this.address, established?.outcome)
      return
    }

    return this.#connectError(established?.error ?? err)
  }

  /** A connect has failed: what that looks like to who dials */
  #connectError (err: Error): Error {
    const { options, report } = this.#dial as Dial
    const { aborted, reason } = this.signal

    if (aborted && !(reason instanceof TimeoutError)) {
      return abortError(options.signal)
    }

    return report.failed(this.address, aborted ? reason : err)
  }

  /**
   * The plan after an upgrade that failed.
   *
   * @throws {Error} what the attempt rejects with, if there is none
   */
  #otherwise (plan: Plan, err: unknown): Plan {
    const { init: { metrics }, report } = this.#dial as Dial
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

  #countOutcome (negotiation?: DialProposal): void {
    const { metrics } = (this.#dial as Dial).init

    if (negotiation?.state === 'verified') {
      metrics?.optimistic?.increment({ accepted: true })
    } else if (negotiation?.state === 'refused') {
      metrics?.optimistic?.increment({ refused: true })
    }
  }
}

/** Its muxer was made after the connection had ended, or is not needed: it may throw when it tries to send a last message */
export function abandon (connection: Connection, error: Error): void {
  try {
    connection.abort(error)
  } catch {
    // the error of the dial counts
  }
}

/** Counts nothing of a connection before the peer has answered the SYN: the dial may still end as one that could not connect */
function onceAnswered (socket: Socket, events?: CounterGroup): CounterGroup | undefined {
  return events == null ? undefined : { increment: values => { socket.bytesRead > 0 && events.increment(values) }, reset: () => { events.reset() } }
}
