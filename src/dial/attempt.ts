import { ConnectionClosedError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { SocketConnection } from '../connection/socket-connection.ts'
import { PlanError } from '../connector.ts'
import { abortError } from '../errors.ts'
import { SimultaneousOpen } from '../nat/simultaneous-open.ts'
import { DialProposal } from '../optimistic/dial-proposal.ts'
import { describeNegotiation } from './negotiation-plan.ts'
import { nextPlan } from './plan.ts'
import { GATHER_FOR_SYN } from './syn-data.ts'
import type { LateConnect } from './late-connect.ts'
import type { Plan } from './plan.ts'
import type { Lingering } from '../connection/fin-wait.ts'
import type { WireFilter } from '../connection/wire-filter.ts'
import type { Connector, OpenSocket, PortUse } from '../connector.ts'
import type { TCPMetrics } from './dialer-metrics.ts'
import type { TCPDialOptions } from '../options.ts'
import type { DialSettings } from '../settings.ts'
import type { Connection, Logger } from '@libp2p/interface'

export interface AttemptInit {
  /** Opens sockets without data in the SYN */
  plain: Connector

  /** Opens sockets with data in the SYN. Set with the option `fastOpen` of `linux()` */
  fastOpen?: Connector

  /** Makes a connector open sockets from a listening port, also to a peer that has just been connected to it. Set with the option `reusePort` */
  reusePort?(connector: Connector, isForced: boolean): Connector
  lingering: Lingering

  /** Called with every connection before its upgrade, and the port that it left from */
  onConnection(maConn: SocketConnection, port?: PortUse): void
  metrics?: TCPMetrics
  log: Logger

  /** Of the connections */
  connectionLog: Logger
}

/** One dial: its settings and what the caller passed */
export interface Dial {
  settings: DialSettings
  options: TCPDialOptions
}

/** A connected socket: the first half of an attempt. The peer has received a SYN, and data at most if it waited for that */
export interface Connected extends OpenSocket {
  /** The plan that led here: not always the one that the attempt began with */
  readonly plan: Plan

  /** Exists if the peer has yet to answer the SYN */
  late?: LateConnect
}

/**
 * The attempts of one dial. Each has two phases that may be used apart: several targets are connected to in a race, and
 * the first is upgraded.
 */
export class Attempt {
  readonly #init: AttemptInit
  readonly #dial: Dial

  constructor (init: AttemptInit, dial: Dial) {
    this.#init = init
    this.#dial = dial
  }

  /**
   * Opens a socket by the plan, or by the next one for as long as there is one.
   *
   * @throws {Error} what ended the last attempt, or the signal's reason. No socket is left then
   */
  async connect (plan: Plan, signal: AbortSignal): Promise<Connected> {
    for (;;) {
      try {
        return { ...await this.#open(plan, signal), plan }
      } catch (err: any) {
        const next = signal.aborted ? undefined : nextPlan(plan, err)

        if (next == null) {
          throw err instanceof PlanError ? err.cause : err
        }

        plan = next
      }
    }
  }

  /** Another socket was first, or nobody waits any more */
  discard ({ socket, established }: Connected): void {
    established?.end()
    socket.destroy()
  }

  /**
   * Runs the upgrade on the socket.
   *
   * @throws {PlanError} if {@link nextPlan} may have another plan
   * @throws {Error} the upgrader's error. No socket is left then
   */
  async upgrade (connected: Connected): Promise<Connection> {
    const { log, metrics } = this.#init
    const { options } = this.#dial
    const { late, plan, port } = connected
    const { ma } = plan
    const negotiation = plan.negotiation.name === 'optimistic' ? new DialProposal() : undefined
    // only a dial from a listening port may meet one of the peer's
    const collision = port === 'reused' && options.initiator !== false ? new SimultaneousOpen(negotiation) : undefined
    const maConn = this.#toConnection(connected, collision ?? negotiation)

    try {
      log('new outbound connection %a', ma)

      const connection = await this.#upgrade(maConn)
      log('negotiation with %a was %s', ma, describeNegotiation(plan.negotiation, negotiation))
      await late?.connected()

      // the encrypter or the muxer aborted it while the upgrader waited for something else
      if (maConn.status === 'aborted') {
        const error = maConn.closeError ?? new ConnectionClosedError(`The connection to ${ma} was aborted before it was upgraded`)
        this.#abort(connection, error)
        throw error
      }

      return connection
    } catch (err: any) {
      const connectError = late?.failed(err)
      maConn.abort(err)

      if (connectError != null) {
        throw connectError
      }

      if (collision?.state === 'found') {
        throw new PlanError('simultaneous-open', `The connection to ${ma} is one that the peer dialed too`, err)
      }

      log('negotiation with %a, which failed, was %s', ma, describeNegotiation(plan.negotiation, negotiation))

      // the bytes that came decide: the upgrader's error does not say why it failed
      if (negotiation?.state === 'refused' && !options.signal.aborted) {
        throw new PlanError('refused', `${ma} refused ${negotiation.protocol}`, err)
      }

      metrics?.errors.increment({ outbound_upgrade: true })
      log.error('error upgrading outbound connection - %e', err)
      throw err
    } finally {
      this.#countOutcome(negotiation)
    }
  }

  async #open ({ fastOpen, port, target }: Plan, signal: AbortSignal): Promise<OpenSocket> {
    const { reusePort } = this.#init
    const { options, settings: { socket } } = this.#dial
    const connector = (fastOpen ? this.#init.fastOpen : undefined) ?? this.#init.plain

    if (reusePort == null) {
      return connector.open(target, socket, signal)
    }

    if (port === 'listening') {
      return reusePort(connector, options.reusePort === true).open(target, socket, signal)
    }

    return { ...await connector.open(target, socket, signal), port: port === 'any' ? 'option' : 'taken' }
  }

  #toConnection ({ late, plan, port, socket }: Connected, filter?: WireFilter): SocketConnection {
    const { connectionLog, lingering, metrics, onConnection } = this.#init
    const { options, settings } = this.#dial

    try {
      const maConn = new SocketConnection({
        socket,
        remoteAddr: plan.ma,
        // muxers take their role from it: if two nodes dial each other at once, one must be the server
        direction: options.initiator === false ? 'inbound' : 'outbound',
        settings: settings.connection,
        lingering,
        filter,
        gather: late == null ? 0 : GATHER_FOR_SYN,
        metrics: late == null ? metrics?.events : late.events,
        log: connectionLog
      })

      onConnection(maConn, port)

      return maConn
    } catch (err: any) {
      metrics?.errors.increment({ outbound_to_connection: true })
      late?.failed(err)
      socket.destroy(err)
      throw err
    }
  }

  /** Not every await of the upgrade looks at the signal */
  async #upgrade (maConn: SocketConnection): Promise<Connection> {
    const { options } = this.#dial
    const { signal, upgrader } = options

    return raceSignal(maConn.upgrade(async () => upgrader.upgradeOutbound(maConn, options)), signal, {
      translateError: () => abortError(signal)
    })
  }

  /** Its muxer was made after the connection had ended, and may throw when it tries to send a last message */
  #abort (connection: Connection, error: Error): void {
    try {
      connection.abort(error)
    } catch (err) {
      this.#init.log.error('error aborting outbound connection - %e', err)
    }
  }

  #countOutcome (negotiation?: DialProposal): void {
    const { metrics } = this.#init

    if (negotiation?.state === 'verified') {
      metrics?.optimistic?.increment({ accepted: true })
    } else if (negotiation?.state === 'refused') {
      metrics?.optimistic?.increment({ refused: true })
    }
  }
}
