import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionFailedError, setMaxListeners } from '@libp2p/interface'
import { CustomProgressEvent } from 'progress-events'
import { raceSignal } from 'race-signal'
import { abortError } from '../errors.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import { punchAddresses } from './punch-addresses.ts'
import type { Connection, ConnectionGater, CounterGroup, Libp2pEvents, Logger, PeerId, TypedEventTarget } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { ProgressEvent } from 'progress-events'

export interface HolePunchStart {
  peer: PeerId

  /** Where the peer says that it may be reached */
  addresses: Multiaddr[]

  /** Whether we negotiate as the dialer does */
  initiator: boolean
}

export interface HolePunchOpened {
  peer: PeerId
  connection: Connection

  /** Since the start of this punch, in ms */
  ms: number
}

/**
 * Why a punch failed
 *
 * - `timeout`: nothing came through before the service's timeout
 * - `refused`: every dial was refused, by a NAT or the host behind it, or had no route
 * - `denied`: the connection gater denied the peer or its addresses, or it named none that are IP addresses
 * - `upgrade`: a dial came through, and its upgrade failed
 * - `stopped`: the node stopped
 * - `busy`: 32 punches were under way already
 */
export type HolePunchFailure = 'timeout' | 'refused' | 'denied' | 'upgrade' | 'stopped' | 'busy'

export interface HolePunchFailed {
  peer: PeerId
  reason: HolePunchFailure
  error: Error
}

export type HolePunchEvents =
  ProgressEvent<'hole-punch:start', HolePunchStart> |
  ProgressEvent<'hole-punch:opened', HolePunchOpened> |
  ProgressEvent<'hole-punch:failed', HolePunchFailed>

export interface HolePunchInit {
  components: HolePunchComponents
  log: Logger
  metrics?: CounterGroup
  onProgress?(event: HolePunchEvents): void
}

export interface HolePunchComponents {
  connectionGater?: ConnectionGater
  connectionManager: { getConnections(peer?: PeerId): Connection[] }
  transportManager: { dial(ma: Multiaddr, options?: any): Promise<Connection> }
  events: TypedEventTarget<Libp2pEvents>
}

/** The first pause between a refused dial of a hole punch and the next dial, in ms. Each further pause is longer */
const PUNCH_INTERVAL = 100

/** Errors of a dial after which another SYN may still meet the peer's on its way */
const REFUSALS = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']

/** Each wait after a refusal is this many times the one before. The peer chooses the addresses, which may be anybody's: do not flood them */
const WAIT_GROWTH = 1.5

/** How many punches run at a time. Peers begin them, and through a relay anybody can be a peer */
const MAX_PUNCHES = 32

/** The punches of a node */
export class HolePunches {
  readonly #init: HolePunchInit
  #stopping = new AbortController()
  #running = 0

  constructor (init: HolePunchInit) {
    this.#init = init
  }

  start (): void {
    this.#stopping = new AbortController()
  }

  /** End all that are under way */
  stop (): void {
    this.#stopping.abort()
  }

  /**
   * Dials all addresses at once, until the signal fires. Resolves with a direct connection
   * to the peer of the relayed one, whether our dial or the peer's came through.
   *
   * @throws {Error} if none came through; then no socket is left
   */
  async dial (relayed: Connection, targets: Multiaddr[], initiator: boolean, timeout?: AbortSignal): Promise<Connection> {
    const punch = new HolePunch(this.#init, relayed.remotePeer, initiator, AbortSignal.any([this.#stopping.signal, ...timeout == null ? [] : [timeout]]))

    this.#running++

    try {
      return await punch.run(targets, this.#running > MAX_PUNCHES, this.#stopping.signal)
    } finally {
      this.#running--
    }
  }
}

/**
 * Dials a peer while the peer dials us: the first SYN of each end opens its own NAT for that
 * of the other. To all addresses of the peer at once, and again where they are refused.
 */
class HolePunch {
  readonly #init: HolePunchInit
  readonly #peer: PeerId
  readonly #initiator: boolean
  readonly #timeout: AbortSignal
  #failure: HolePunchFailure = 'timeout'

  /** Whether a connection came through. From then on no dial begins; those under way go on where the peer chooses among them */
  #isOpen = false

  constructor (init: HolePunchInit, peer: PeerId, initiator: boolean, timeout: AbortSignal) {
    this.#init = init
    this.#peer = peer
    this.#initiator = initiator
    this.#timeout = timeout
  }

  async run (targets: Multiaddr[], isBusy: boolean, stopping: AbortSignal): Promise<Connection> {
    const { log, metrics, onProgress } = this.#init
    const peer = this.#peer
    const start = performance.now()
    const addresses = punchAddresses(peer, targets)
    let connection: Connection

    log('punch a hole to %p at %s as the %s', peer, addresses.join(), this.#initiator ? 'dialer' : 'listener')
    metrics?.increment({ tried: true })
    onProgress?.(new CustomProgressEvent<HolePunchStart>('hole-punch:start', { peer, addresses, initiator: this.#initiator }))

    try {
      if (isBusy) {
        this.#failure = 'busy'
        throw new ConnectionFailedError(`${MAX_PUNCHES} holes are punched already`)
      }

      connection = await this.#dialAll(addresses)
    } catch (error: any) {
      const reason = stopping.aborted ? 'stopped' : this.#failure

      log('no hole to %p: %s - %e', peer, reason, error)
      metrics?.increment({ [`failed_${reason}`]: true })
      onProgress?.(new CustomProgressEvent<HolePunchFailed>('hole-punch:failed', { peer, reason, error }))
      throw error
    }

    const ms = performance.now() - start

    log('punched a hole to %p, %a, in %d ms', peer, connection.remoteAddr, ms)
    metrics?.increment({ opened: true })
    onProgress?.(new CustomProgressEvent<HolePunchOpened>('hole-punch:opened', { peer, connection, ms }))

    return connection
  }

  /**
   * Dial all addresses at once, and again where they refuse, until the signal fires.
   *
   * @throws {Error} if no direct connection came through
   */
  async #dialAll (addresses: Multiaddr[]): Promise<Connection> {
    const allowed = this.#direct() == null ? await beforeAbort(this.#allowed(addresses), this.#timeout) : []
    // the peer's dial may have come through while the connection gater was asked
    const direct = this.#direct()

    if (direct != null) {
      return direct
    }

    const heard = new AbortController()
    const over = new AbortController()
    const signal = AbortSignal.any([this.#timeout, over.signal])
    const accepted = this.#accepted(allowed, AbortSignal.any([this.#timeout, heard.signal]))
    const dials = allowed.map(async address => this.#dial(address, signal))

    setMaxListeners(Infinity, signal)

    try {
      const connection = await Promise.race([accepted, Promise.any(dials)])
      this.#isOpen = true

      if (this.#initiator) {
        // One end chooses. If both did, each could close the connection that the other keeps
        dials.forEach(dial => { dial.then(other => { closeUnless(connection, other) }, () => {}) })
        over.abort()
      }

      return connection
    } catch (err: any) {
      over.abort()

      if (this.#timeout.aborted) {
        throw abortError(this.#timeout)
      }

      throw err instanceof AggregateError ? err.errors[0] : err
    } finally {
      heard.abort()
      accepted.catch(() => {})
      dials.forEach(dial => { dial.catch(() => {}) })
    }
  }

  #direct (): Connection | undefined {
    return this.#init.components.connectionManager.getConnections(this.#peer).find(isDirect)
  }

  /** The peer's dial, if it comes through. Ours are handed out when the dial returns them */
  async #accepted (dialed: Multiaddr[], signal: AbortSignal): Promise<Connection> {
    const { promise, resolve } = Promise.withResolvers<Connection>()
    const onOpen = ({ detail: connection }: CustomEvent<Connection>): void => {
      if (!connection.remotePeer.equals(this.#peer) || !isDirect(connection)) {
        return
      }

      if (dialed.some(address => address.equals(connection.remoteAddr))) {
        // If it is one of our dials, that returns it before the turn of the event loop is over. If not, the peer's dial left
        // from the port that we dial
        setImmediate(() => { resolve(connection) })
      } else {
        resolve(connection)
      }
    }

    this.#init.components.events.addEventListener('connection:open', onOpen)

    try {
      return await beforeAbort(promise, signal)
    } finally {
      this.#init.components.events.removeEventListener('connection:open', onOpen)
    }
  }

  async #dial (address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    for (let pause = PUNCH_INTERVAL; ; pause *= WAIT_GROWTH) {
      try {
        return await this.#init.components.transportManager.dial(address, { signal, initiator: this.#initiator, reusePort: true })
      } catch (err: any) {
        if (signal.aborted || this.#isOpen) {
          throw err
        }

        // with the option `dialOpts.timeout` a dial may end before the punch
        if (!REFUSALS.includes(err.code) && err.name !== 'TimeoutError') {
          this.#failure = 'upgrade'
          throw err
        }

        // the peer's SYN opens its NAT sooner or later
        this.#failure = 'refused'
        await wait(pause, undefined, { signal })
      }
    }
  }

  /**
   * @throws {ConnectionFailedError} if there is none
   */
  async #allowed (addresses: Multiaddr[]): Promise<Multiaddr[]> {
    const { connectionGater } = this.#init.components
    const allowed: Multiaddr[] = []

    if (await connectionGater?.denyDialPeer?.(this.#peer) !== true) {
      for (const address of addresses) {
        if (await connectionGater?.denyDialMultiaddr?.(address) !== true) {
          allowed.push(address)
        }
      }
    }

    if (allowed.length === 0) {
      this.#failure = 'denied'
      throw new ConnectionFailedError(addresses.length === 0 ? 'The peer has no IP address that it may be dialed at' : 'The connection gater denied all addresses of the peer')
    }

    return allowed
  }
}

/** The signal may have fired already: a slow connection gater takes the time of the punch */
async function beforeAbort <T> (promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return raceSignal(promise, signal, { translateError: () => abortError(signal) })
}

function isDirect ({ limits, status, remoteAddr }: Connection): boolean {
  return limits == null && status === 'open' && !remoteAddr.getComponents().some(({ name }) => name === 'p2p-circuit')
}

function closeUnless (connection: Connection, other: Connection): void {
  if (other !== connection) {
    other.close().catch(err => { other.abort(err) })
  }
}
