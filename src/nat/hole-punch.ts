import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionFailedError, setMaxListeners } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { CustomProgressEvent } from 'progress-events'
import { PUNCH_INTERVAL } from '../constants.ts'
import { abortError } from '../errors.ts'
import type { Connection, ConnectionGater, CounterGroup, Libp2pEvents, Logger, PeerId, TypedEventTarget } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { ProgressEvent } from 'progress-events'

export interface HolePunchComponents {
  connectionGater?: ConnectionGater
  connectionManager: { getConnections(peer?: PeerId): Connection[] }
  transportManager: { dial(ma: Multiaddr, options?: any): Promise<Connection> }
  events: TypedEventTarget<Libp2pEvents>
}

export interface HolePunchStart {
  peer: PeerId

  /** Where the peer says that it may be reached */
  addresses: Multiaddr[]

  /** Whether we negotiate as the dialler does */
  initiator: boolean
}

export interface HolePunchOpened {
  peer: PeerId
  connection: Connection

  /** Since the start of this punch */
  ms: number
}

/**
 * Why a punch failed
 *
 * - `timeout`: nothing came through before the service's timeout
 * - `refused`: a NAT, or the host behind it, refused every dial
 * - `denied`: the connection gater denied the peer or its addresses
 * - `stopped`: the node stopped
 * - `upgrade`: a dial came through, and its upgrade failed
 * - `busy`: as many punches as are allowed at a time were under way
 */
export type HolePunchFailure = 'timeout' | 'refused' | 'denied' | 'stopped' | 'upgrade' | 'busy'

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

/** Errors of a dial after which another SYN may still meet the peer's on its way */
const REFUSALS = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']

/** Each wait after a refusal is this much longer than the one before: the peer chooses whom we dial, and it may be anybody */
const WAIT_GROWTH = 1.5

/** Punches at a time: peers begin them, and a relay lets anybody be a peer */
const MAX_PUNCHES = 32

/**
 * Dials a peer while the peer dials us: the first SYN of each end opens its own NAT for that
 * of the other.
 */
export class HolePunch {
  readonly #components: HolePunchComponents
  readonly #log: Logger
  readonly #metrics?: CounterGroup
  readonly #onProgress?: (event: HolePunchEvents) => void
  #stopping = new AbortController()
  #running = 0

  constructor ({ components, log, metrics, onProgress }: HolePunchInit) {
    this.#components = components
    this.#log = log
    this.#metrics = metrics
    this.#onProgress = onProgress
  }

  start (): void {
    this.#stopping = new AbortController()
  }

  /** End all that are under way */
  stop (): void {
    this.#stopping.abort()
  }

  /**
   * All addresses at once and until the signal fires. Resolves with a direct connection
   * to the peer at the other end of the relayed one, also where it is the peer's dial that came through.
   *
   * @throws {Error} if none came through. No socket is left then
   */
  async dial (relayed: Connection, targets: Multiaddr[], initiator: boolean, timeout?: AbortSignal): Promise<Connection> {
    const peer = relayed.remotePeer
    const start = performance.now()
    const addresses = addressesOf(peer, targets)
    const attempt = new Attempt(this.#components, peer, initiator, AbortSignal.any([this.#stopping.signal, ...timeout == null ? [] : [timeout]]))

    this.#log('punch a hole to %p at %s as the %s', peer, addresses.join(), initiator ? 'dialler' : 'listener')
    this.#metrics?.increment({ tried: true })
    this.#onProgress?.(new CustomProgressEvent<HolePunchStart>('hole-punch:start', { peer, addresses, initiator }))

    let connection: Connection

    try {
      this.#running++
      connection = await (this.#running > MAX_PUNCHES ? attempt.refuse() : attempt.run(addresses))
    } catch (error: any) {
      const reason = this.#stopping.signal.aborted ? 'stopped' : attempt.failure

      this.#log('no hole to %p: %s - %e', peer, reason, error)
      this.#metrics?.increment({ [`failed_${reason}`]: true })
      this.#onProgress?.(new CustomProgressEvent<HolePunchFailed>('hole-punch:failed', { peer, reason, error }))

      throw error
    } finally {
      this.#running--
    }

    const ms = performance.now() - start

    this.#log('punched a hole to %p, %a, in %d ms', peer, connection.remoteAddr, ms)
    this.#metrics?.increment({ opened: true })
    this.#onProgress?.(new CustomProgressEvent<HolePunchOpened>('hole-punch:opened', { peer, connection, ms }))

    return connection
  }
}

class Attempt {
  readonly #components: HolePunchComponents
  readonly #peer: PeerId
  readonly #initiator: boolean
  readonly #timeout: AbortSignal
  #failure: HolePunchFailure = 'timeout'

  /** Whether a connection came through. Dials that are under way go on where the peer chooses, and no more begin */
  #isOpen = false

  constructor (components: HolePunchComponents, peer: PeerId, initiator: boolean, timeout: AbortSignal) {
    this.#components = components
    this.#peer = peer
    this.#initiator = initiator
    this.#timeout = timeout
  }

  get failure (): HolePunchFailure {
    return this.#failure
  }

  /**
   * @throws {ConnectionFailedError}
   */
  async refuse (): Promise<never> {
    this.#failure = 'busy'
    throw new ConnectionFailedError(`${MAX_PUNCHES} holes are punched already`)
  }

  async run (addresses: Multiaddr[]): Promise<Connection> {
    const direct = this.#components.connectionManager.getConnections(this.#peer).find(isDirect)

    if (direct != null) {
      return direct
    }

    const allowed = await this.#allowed(addresses)
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

  /** The peer's dial, if it comes through. Ours are handed out when the dial returns them */
  async #accepted (dialled: Multiaddr[], signal: AbortSignal): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const onOpen = ({ detail: connection }: CustomEvent<Connection>): void => {
      if (!connection.remotePeer.equals(this.#peer) || !isDirect(connection)) {
        return
      }

      if (dialled.some(address => address.equals(connection.remoteAddr))) {
        // If it is one of our dials, that returns it before the turn of the event loop is over. If not, the peer's dial left
        // from the port that we dial
        setImmediate(() => { resolve(connection) })
      } else {
        resolve(connection)
      }
    }
    const onAbort = (): void => { reject(abortError(signal)) }

    this.#components.events.addEventListener('connection:open', onOpen)
    signal.addEventListener('abort', onAbort)

    try {
      return await promise
    } finally {
      this.#components.events.removeEventListener('connection:open', onOpen)
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #dial (address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    for (let pause = PUNCH_INTERVAL; ; pause *= WAIT_GROWTH) {
      try {
        return await this.#components.transportManager.dial(address, { signal, initiator: this.#initiator, reusePort: true })
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
    const { connectionGater } = this.#components
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
      throw new ConnectionFailedError('The connection gater denied all addresses of the peer')
    }

    return allowed
  }
}

/** At most so many addresses are dialled for one peer: it chooses them, and they may be anybody's */
const MAX_DIALLED = 8

/** With the peer id, which go-libp2p and rust-libp2p may leave out, and without those of another peer */
function addressesOf (peer: PeerId, targets: Multiaddr[]): Multiaddr[] {
  const addresses = targets.flatMap(target => {
    const id = target.getComponents().findLast(({ name }) => name === 'p2p')?.value

    if (id == null) {
      return [target.encapsulate(`/p2p/${peer}`)]
    }

    return id === peer.toString() ? [target] : []
  })

  return [...new Set(addresses.map(String))].slice(0, MAX_DIALLED).map(address => multiaddr(address))
}

function isDirect ({ limits, status, remoteAddr }: Connection): boolean {
  return limits == null && status === 'open' && !remoteAddr.getComponents().some(({ name }) => name === 'p2p-circuit')
}

function closeUnless (connection: Connection, other: Connection): void {
  if (other !== connection) {
    other.close().catch(err => { other.abort(err) })
  }
}
