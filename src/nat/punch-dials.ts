import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionFailedError, setMaxListeners } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { abortError } from '../errors.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import type { Connection, ConnectionGater, Libp2pEvents, PeerId, TypedEventTarget } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** The first pause between a refused dial of a hole punch and the next dial, in ms. Each further pause is longer */
const PUNCH_INTERVAL = 100

export interface HolePunchComponents {
  connectionGater?: ConnectionGater
  connectionManager: { getConnections(peer?: PeerId): Connection[] }
  transportManager: { dial(ma: Multiaddr, options?: any): Promise<Connection> }
  events: TypedEventTarget<Libp2pEvents>
}

/**
 * Why no dial of a punch came through
 *
 * - `timeout`: nothing came through before the service's timeout
 * - `refused`: every dial was refused, by a NAT or the host behind it, or had no route
 * - `denied`: the connection gater denied the peer or its addresses, or it named none that are IP addresses
 * - `upgrade`: a dial came through, and its upgrade failed
 */
export type PunchDialFailure = 'timeout' | 'refused' | 'denied' | 'upgrade'

/** Errors of a dial after which another SYN may still meet the peer's on its way */
const REFUSALS = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']

/** Each wait after a refusal is this many times the one before. The peer chooses the addresses, which may be anybody's: do not flood them */
const WAIT_GROWTH = 1.5

/**
 * The dials of one punch: to all addresses of the peer at once, and again where they are refused.
 * Meanwhile the peer's own dial may come through.
 */
export class PunchDials {
  readonly #components: HolePunchComponents
  readonly #peer: PeerId
  readonly #initiator: boolean
  readonly #timeout: AbortSignal
  #failure: PunchDialFailure = 'timeout'

  /** Whether a connection came through. From then on no dial begins; those under way go on where the peer chooses among them */
  #isOpen = false

  constructor (components: HolePunchComponents, peer: PeerId, initiator: boolean, timeout: AbortSignal) {
    this.#components = components
    this.#peer = peer
    this.#initiator = initiator
    this.#timeout = timeout
  }

  get failure (): PunchDialFailure {
    return this.#failure
  }

  /**
   * Dial all addresses at once, and again where they refuse, until the signal fires.
   *
   * @throws {Error} if no direct connection came through
   */
  async run (addresses: Multiaddr[]): Promise<Connection> {
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
    return this.#components.connectionManager.getConnections(this.#peer).find(isDirect)
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

    this.#components.events.addEventListener('connection:open', onOpen)

    try {
      return await beforeAbort(promise, signal)
    } finally {
      this.#components.events.removeEventListener('connection:open', onOpen)
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
