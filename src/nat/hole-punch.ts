import { ConnectionFailedError } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { CustomProgressEvent } from 'progress-events'
import { PunchDials } from './punch-dials.ts'
import type { HolePunchComponents, PunchDialFailure } from './punch-dials.ts'
import type { Connection, CounterGroup, Logger, PeerId } from '@libp2p/interface'
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
 * Why a punch failed: as {@link PunchDialFailure}, and
 *
 * - `stopped`: the node stopped
 * - `busy`: 32 punches were under way already
 */
export type HolePunchFailure = PunchDialFailure | 'stopped' | 'busy'

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

/** How many punches run at a time. Peers begin them, and through a relay anybody can be a peer */
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
   * Dials all addresses at once, until the signal fires. Resolves with a direct connection
   * to the peer of the relayed one, whether our dial or the peer's came through.
   *
   * @throws {Error} if none came through; then no socket is left
   */
  async dial (relayed: Connection, targets: Multiaddr[], initiator: boolean, timeout?: AbortSignal): Promise<Connection> {
    const peer = relayed.remotePeer
    const start = performance.now()
    const addresses = addressesOf(peer, targets)
    const dials = new PunchDials(this.#components, peer, initiator, AbortSignal.any([this.#stopping.signal, ...timeout == null ? [] : [timeout]]))

    this.#log('punch a hole to %p at %s as the %s', peer, addresses.join(), initiator ? 'dialer' : 'listener')
    this.#metrics?.increment({ tried: true })
    this.#onProgress?.(new CustomProgressEvent<HolePunchStart>('hole-punch:start', { peer, addresses, initiator }))

    let connection: Connection

    if (this.#running === MAX_PUNCHES) {
      throw this.#failed(peer, 'busy', new ConnectionFailedError(`${MAX_PUNCHES} holes are punched already`))
    }

    this.#running++

    try {
      connection = await dials.run(addresses)
    } catch (err: any) {
      throw this.#failed(peer, this.#stopping.signal.aborted ? 'stopped' : dials.failure, err)
    } finally {
      this.#running--
    }

    const ms = performance.now() - start

    this.#log('punched a hole to %p, %a, in %d ms', peer, connection.remoteAddr, ms)
    this.#metrics?.increment({ opened: true })
    this.#onProgress?.(new CustomProgressEvent<HolePunchOpened>('hole-punch:opened', { peer, connection, ms }))

    return connection
  }

  #failed (peer: PeerId, reason: HolePunchFailure, error: Error): Error {
    this.#log('no hole to %p: %s - %e', peer, reason, error)
    this.#metrics?.increment({ [`failed_${reason}`]: true })
    this.#onProgress?.(new CustomProgressEvent<HolePunchFailed>('hole-punch:failed', { peer, reason, error }))

    return error
  }
}

/** How many addresses of one peer are dialed. The peer chooses them, and they may be anybody's */
const MAX_DIALED = 8

/**
 * The addresses of this peer, each with the peer id: go-libp2p and rust-libp2p may leave it out. No names: a NAT lets in
 * what it has seen, which is an IP address, and nothing cancels the look-up of a name that the peer chose
 */
function addressesOf (peer: PeerId, targets: Multiaddr[]): Multiaddr[] {
  const addresses = targets.flatMap(target => {
    const components = target.getComponents()
    const id = components.findLast(({ name }) => name === 'p2p')?.value

    if (components[0]?.name.startsWith('dns')) {
      return []
    }

    if (id == null) {
      return [target.encapsulate(`/p2p/${peer}`)]
    }

    return id === peer.toString() ? [target] : []
  })

  return [...new Set(addresses.map(String))].slice(0, MAX_DIALED).map(address => multiaddr(address))
}
