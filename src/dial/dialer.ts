import net from 'node:net'
import { NotStartedError } from '@libp2p/interface'
import { CustomProgressEvent } from 'progress-events'
import { endpointName, toEndpoint } from '../addresses.ts'
import { PlanError } from '../connector.ts'
import { abortError } from '../errors.ts'
import { dialSettings } from '../settings.ts'
import { Attempt } from './attempt.ts'
import { ConnectBounds } from './bounds.ts'
import { ConnectReport } from './connect-report.ts'
import { LateConnect } from './late-connect.ts'
import { planNegotiation } from './negotiation-plan.ts'
import { nextPlan } from './plan.ts'
import { RememberedAddresses } from './remembered-addresses.ts'
import { resolve } from './resolve.ts'
import { MAX_TARGETS, stagger } from './stagger.ts'
import { maySynCarryData } from './syn-data.ts'
import type { AttemptInit, Connected, Dial as AttemptDial } from './attempt.ts'
import type { Plan } from './plan.ts'
import type { Endpoint } from '../addresses.ts'
import type { OpenSockets } from '../connection/open-sockets.ts'
import type { PortUse, Target } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { TransportSettings } from '../settings.ts'
import type { DialHooks, NameLimits } from './race/init.ts'
import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

export interface DialerInit extends Omit<AttemptInit, 'connectionLog'> {
  settings: TransportSettings

  /** All sockets of the transport. Each new one is added */
  sockets: OpenSockets
}

interface Dial extends AttemptDial {
  ma: Multiaddr
  endpoint: Endpoint
  attempt: Attempt

  /** The transport stops: no more sockets are opened, and look-ups end */
  stopping: AbortSignal

  /** Set if this address is one of several that are dialed at once */
  hooks?: DialHooks & NameLimits
}

/** For the log: ports that are not just any port */
const PORTS: Partial<Record<PortUse, string>> = { reused: 'a listening', chosen: 'the chosen' }

/**
 * Dials: looks a name up, connects to the first target that answers, and upgrades.
 */
export class Dialer {
  readonly #init: DialerInit
  readonly #attemptInit: AttemptInit

  /** Targets that refused to negotiate optimistically, and did not refuse the dial after that */
  readonly #refusals = new RememberedAddresses()

  /** Aborted when the transport stops; a new one serves the dials after that */
  #stopping = new AbortController()

  constructor (init: DialerInit) {
    this.#init = init
    // one logger for all connections: it takes 3 KiB. The upgrader gives each a scope of its own
    this.#attemptInit = { ...init, connectionLog: init.log.newScope('connection') }
  }

  /** A dial that is under way opens no socket from now on */
  stop (): void {
    this.#stopping.abort()
    this.#stopping = new AbortController()
  }

  /**
   * Dials, and again by another plan if an attempt shows that it may do better: at most {@link MAX_ATTEMPTS} times in all for
   * each target.
   *
   * @throws {AbortError} if the signal fires before the connection is upgraded
   * @throws {TCPConnectError} if the network refuses
   * @throws {TimeoutError} if the `timeout` option is set and passes
   * @throws {InvalidParametersError} if the address or an option is invalid
   * @throws {Error} the upgrader's error if the upgrade fails
   */
  async dial (ma: Multiaddr, options: TCPDialOptions, hooks?: DialHooks & NameLimits): Promise<Connection> {
    const settings = dialSettings(this.#init.settings, options)
    const attempt = new Attempt(this.#attemptInit, { settings, options })
    const dial: Dial = { ma, settings, options, attempt, endpoint: toEndpoint(ma), stopping: this.#stopping.signal, hooks }
    let connected = await this.#connect(dial)

    for (;;) {
      const { plan } = connected

      try {
        const connection = await attempt.upgrade(connected)
        this.#remember(plan)

        return connection
      } catch (err: any) {
        connected = await this.#connect(dial, this.#otherwise(dial, plan, err))
      }
    }
  }

  /** The first phase: a socket to the target of the plan, or to any that the multiaddr leads to */
  async #connect (dial: Dial, plan?: Plan): Promise<Connected> {
    const { attempt, endpoint, ma, options, settings, stopping } = dial
    const { log, metrics, sockets } = this.#init

    if (options.signal.aborted) {
      throw abortError(options.signal)
    }

    options.onProgress?.(new CustomProgressEvent('tcp:open-connection'))

    const bounds = new ConnectBounds({ endpoint, signal: options.signal, stopping, timeout: settings.socket.timeout })
    const report = new ConnectReport({ ma, endpoint, bounds, log, metrics })
    let connected: Connected

    try {
      log('dialing %a with opts %o', ma, settings.socket)

      connected = await stagger(plan == null ? await this.#plans(dial, bounds.signal) : [plan], {
        connect: async (plan, signal) => attempt.connect(plan, signal),
        discard: connected => { attempt.discard(connected) },
        signal: bounds.signal,
        delay: settings.socket.autoSelectFamilyAttemptTimeout ?? net.getDefaultAutoSelectFamilyAttemptTimeout()
      })
    } catch (err: any) {
      bounds.release()
      throw report.failed(err)
    }

    sockets.add(connected.socket)

    try {
      if (stopping.aborted) {
        throw new NotStartedError('The transport was stopped')
      }

      this.#tellPort(dial, connected.port)
      connected = this.#established(connected, bounds, report)
      dial.hooks?.onConnected(connected.socket, connected.late != null)

      return connected
    } catch (err: any) {
      // A logger, metrics or a progress handler throws, or another address was first. Nobody else knows the socket
      connected.late?.failed(err)
      bounds.release()
      attempt.discard(connected)
      throw err
    }
  }

  /** The first plan for each target that the multiaddr leads to */
  async #plans ({ endpoint, hooks, ma, options, settings }: Dial, signal: AbortSignal): Promise<Plan[]> {
    const targets = (await resolve(endpoint, settings.socket, signal, hooks?.lookUps)).slice(0, hooks?.maxTargets ?? MAX_TARGETS)
    // A socket with Fast Open connects before the peer has answered, so that it would win every race
    const fastOpen = this.#init.fastOpen != null && targets.length === 1 && hooks?.maySynWait !== false && maySynCarryData(options)

    return targets.map(target => ({
      ma,
      target,
      port: options.reusePort === false ? 'any' : 'listening',
      fastOpen,
      negotiation: planNegotiation(this.#init.settings, options, this.#refusals.age(keyOf(target)))
    }))
  }

  #tellPort ({ ma, options: { onProgress } }: Dial, port?: PortUse): void {
    const { log, metrics } = this.#init

    if (port != null) {
      log('the dial to %a left from %s port: %s', ma, PORTS[port] ?? 'any', port)
      metrics?.ports?.increment({ [port]: true })
      onProgress?.(new CustomProgressEvent<PortUse>('tcp:local-port', port))
    }
  }

  #established (connected: Connected, bounds: ConnectBounds, report: ConnectReport): Connected {
    const { established, socket } = connected

    if (established?.look() === 'pending') {
      return { ...connected, late: new LateConnect({ socket, established, bounds, report, events: this.#init.metrics?.events }) }
    }

    bounds.release()
    established?.end()
    report.opened(established?.outcome)

    return connected
  }

  /**
   * The plan after an upgrade that failed.
   *
   * @throws {Error} what the dial rejects with, if there is none
   */
  #otherwise ({ ma, options }: Dial, plan: Plan, err: unknown): Plan {
    const { log, metrics } = this.#init
    const next = nextPlan(plan, err)

    if (!(err instanceof PlanError)) {
      throw err
    }

    if (options.signal.aborted) {
      throw err.reason === 'refused' ? err.cause : abortError(options.signal)
    }

    if (next == null) {
      throw err.cause
    }

    if (err.reason === 'refused') {
      metrics?.optimistic?.increment({ redialed: true })
    }

    log('dialing %a again: %s - %e', ma, err.message, err.cause)
    options.onProgress?.(new CustomProgressEvent('tcp:redial'))

    return next
  }

  /**
   * The second dial worked, so optimism was the cause of the refusal. A peer that has too many connections,
   * say, refuses both dials and is not remembered
   */
  #remember ({ negotiation, target }: Plan): void {
    if (negotiation.name === 'redial') {
      this.#refusals.add(keyOf(target))
    }
  }
}

/** The same whether the multiaddr has a peer id or not */
function keyOf (target: Target): string {
  return endpointName(target)
}
