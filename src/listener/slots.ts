import { OpenSockets } from '../connection/open-sockets.ts'
import type { Lingering } from '../connection/lingering.ts'
import type { Socket } from 'node:net'

export interface SlotsInit {
  /** How many connections the listener has at most */
  maxConnections: number

  /** Above this many sockets a newcomer replaces the one that has lingered longest */
  maxSockets: number

  /** Those of the transport */
  sockets: OpenSockets
  lingering: Lingering

  /** A connection has left its slot: it lingers, or its socket is closed */
  onLeave(): void
}

/**
 * - `waiting`: for the peer's FIN
 * - `cut`: about to be destroyed, in favour of a newcomer
 */
type LingeringState = 'waiting' | 'cut'

/**
 * The sockets that a listener has accepted. A connection takes a slot until it is closed.
 * Its socket may linger after that, so that the peer can read everything; but a peer that
 * withholds its FIN must not keep others out.
 */
export class Slots implements Lingering {
  readonly #init: SlotsInit
  readonly #sockets: OpenSockets

  /** Those of `#sockets` whose connection is closed, the oldest first */
  readonly #lingering = new Map<Socket, LingeringState>()

  constructor (init: SlotsInit) {
    this.#init = init
    this.#sockets = new OpenSockets({ among: init.sockets, onClose: init.onLeave })
  }

  /** All sockets that are not closed yet */
  get sockets (): number {
    return this.#sockets.size
  }

  /** How many of them linger */
  get lingering (): number {
    return this.#lingering.size
  }

  /** How many connections have a slot */
  get taken (): number {
    return this.sockets - this.lingering
  }

  /** @returns whether there was a slot */
  take (socket: Socket): boolean {
    const { maxConnections, maxSockets } = this.#init

    // Node admits as many more as linger, and still counts one that was destroyed in this turn
    if (this.lingering > 0 && this.taken >= maxConnections && this.#countTaken() >= maxConnections) {
      return false
    }

    this.#sockets.add(socket)

    if (this.sockets > maxSockets) {
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
  #countTaken (): number {
    return this.#sockets.count(socket => !socket.destroyed && !this.#lingering.has(socket))
  }
}
