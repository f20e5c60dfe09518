import { OpenSockets } from '../connection/open-sockets.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import type { Lingering } from '../connection/fin-wait.ts'
import type { ListenerSettings } from '../settings.ts'
import type { Socket } from 'node:net'

export interface LimitsInit extends Pick<ListenerSettings, 'maxConnections' | 'closeServerOnMaxConnections'> {
  /** Those of the transport */
  sockets: OpenSockets
  lingering: Lingering

  /** A connection has ended: it lingers, or its socket is closed */
  onLeave(): void
}

/**
 * - `waiting`: for the peer's FIN
 * - `cut`: about to be destroyed, in favour of a newcomer
 */
type LingeringState = 'waiting' | 'cut'

/**
 * The sockets that a listener has accepted, and how many more it may accept.
 *
 * A connection counts until it is closed. Its socket may linger after that, so that the peer
 * can read everything. A peer that withholds its FIN must not keep others out: a newcomer
 * replaces the socket that has lingered longest.
 */
export class ListenerLimits implements Lingering {
  readonly #init: LimitsInit
  readonly #sockets: OpenSockets

  /** Those of `#sockets` whose connection is closed, the oldest first */
  readonly #lingering = new Map<Socket, LingeringState>()

  constructor (init: LimitsInit) {
    this.#init = init
    this.#sockets = new OpenSockets({ among: init.sockets, onClose: init.onLeave })
  }

  /** All sockets that are not closed yet */
  get sockets (): number {
    return this.#sockets.size
  }

  get connections (): number {
    return this.sockets - this.#lingering.size
  }

  /** For `net.Server`, which drops what comes above it, and counts the sockets that linger too. Undefined without a limit */
  get maxSockets (): number | undefined {
    const { maxConnections } = this.#init

    return maxConnections == null ? undefined : maxConnections + this.#lingering.size
  }

  /** Whether a listener should have given up its port: from `closeAbove` connections on, until there are fewer than `listenBelow` */
  isFull (isPaused: boolean): boolean {
    const { closeAbove = Infinity, listenBelow = Infinity } = this.#init.closeServerOnMaxConnections ?? {}

    return this.connections >= (isPaused ? listenBelow : closeAbove)
  }

  /** @returns whether the connection is admitted */
  admit (socket: Socket): boolean {
    const { maxConnections = Infinity, closeServerOnMaxConnections } = this.#init

    // Node admits as many more as linger, and still counts one that was destroyed in this turn
    if (this.#lingering.size > 0 && this.connections >= maxConnections && this.#countAlive() >= maxConnections) {
      return false
    }

    this.#sockets.add(socket)

    if (this.sockets > Math.min(maxConnections, closeServerOnMaxConnections?.closeAbove ?? Infinity)) {
      this.#cutOldest()
    }

    return true
  }

  /** The connection is closed, and its peer has yet to send FIN */
  linger (socket: Socket): void {
    if (socket.destroyed) {
      return
    }

    this.#lingering.set(socket, 'waiting')
    // runs before the set of all sockets reports the close
    socket.prependOnceListener('close', () => { this.#lingering.delete(socket) })
    this.#init.lingering.linger(socket)
    this.#init.onLeave()
  }

  /** See {@link OpenSockets.closed} */
  async closed (closeTimeout: number): Promise<void> {
    await this.#sockets.closed(closeTimeout)
  }

  #cutOldest (): void {
    for (const [socket, state] of this.#lingering) {
      if (state === 'waiting') {
        this.#lingering.set(socket, 'cut')
        // What came in meanwhile is read first. Closing before that would send RST, and the
        // peer would lose what it has not read.
        setImmediate(() => { socket.destroy() })

        return
      }
    }
  }

  /** Without those that are destroyed and not closed yet */
  #countAlive (): number {
    return this.#sockets.count(socket => !socket.destroyed && !this.#lingering.has(socket))
  }
}
