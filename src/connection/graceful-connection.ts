import { ConnectionClosedError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { MAX_HELD_BYTES } from '../constants.ts'
import { finish, probe, reset } from './end-socket.ts'
import { DirectConnection } from './direct-connection.ts'
import { Outgoing } from './outgoing.ts'
import type { Lingering } from './lingering.ts'
import type { Backlogged } from './outgoing.ts'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'
import type { AbstractMultiaddrConnectionInit } from '@libp2p/utils'
import type { ConnectionSettings } from '../options.ts'
import type { Socket } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * Where the encrypter above has a queue, this many turns of the event loop must pass
 * in which it sends nothing before it is taken to be empty: TLS takes one for each
 * write, and may be asked later in the same turn than we look
 */
const QUIET_TURNS = 2

export interface GracefulConnectionInit extends Omit<AbstractMultiaddrConnectionInit, 'inactivityTimeout'> {
  /** A connected socket, created with `allowHalfOpen: true` */
  socket: Socket
  settings: ConnectionSettings

  /** Takes the socket where the peer has not sent FIN when `close()` is done */
  lingering: Lingering
}

/**
 * A connection over a socket that loses nothing of what `send` accepted when it
 * is closed, by either side.
 */
export abstract class GracefulConnection extends DirectConnection implements Backlogged {
  protected readonly socket: Socket
  protected readonly writes: Outgoing
  protected readonly settings: ConnectionSettings
  readonly #lingering: Lingering

  /** Which side closed first */
  protected closedBy?: 'local' | 'remote'

  /** The one graceful close that all callers of `close()` wait for; the 'close' event settles it */
  #closing?: PromiseWithResolvers<void>

  /** Whether there are any: the peer's FIN begins one too */
  #isAwaited = false

  /**
   * Whether what is above reads through a queue, and so may write through one too, as
   * TLS does. No encrypter says so: it is taken for true where the connection was once
   * paused, which costs two turns at the close where it was not
   */
  #hasQueueAbove = false

  /** What `send` has accepted since the close began, in bytes */
  #heldBytes = 0

  /** Why `send` took no more, until a turn after somebody has given up over it */
  #refusal?: unknown

  constructor (init: GracefulConnectionInit) {
    super({ ...init, inactivityTimeout: init.settings.inactivityTimeout })

    this.socket = init.socket
    this.writes = new Outgoing(init.socket, this)
    this.#lingering = init.lingering
    this.settings = init.settings
  }

  /** The kernel did not take at once all that it was given */
  abstract onBacklog (): void

  pause (): void {
    super.pause()
    this.#hasQueueAbove = true
  }

  /**
   * As the base class's, and bounded while it is closing: see {@link close}.
   *
   * @throws {StreamStateError} if nothing more can be sent
   */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    if (this.status !== 'closing') {
      return super.send(data)
    }

    if (this.writeStatus === 'writable') {
      this.#heldBytes += data.byteLength

      if (this.#heldBytes > MAX_HELD_BYTES) {
        // nobody has held back so much: somebody goes on sending
        this.writeStatus = 'closing'
      }
    }

    try {
      return super.send(data)
    } catch (err) {
      this.#refusal = err
      throw err
    }
  }

  /**
   * Close at once, for an error at this end: what was not sent is lost. But whatever is
   * above does so too where its `send` came too late for the close (TLS several times),
   * which is no reason to lose what came in time: with the error of such a `send` this
   * does nothing in that turn of the event loop.
   */
  abort (err: Error): void {
    if (this.status === 'closing' && err != null && err === this.#refusal) {
      setImmediate(() => {
        if (this.#refusal === err) {
          this.#refusal = undefined
        }
      })
    } else {
      super.abort(err)
    }
  }

  /** From now on read what comes in and throw it away */
  protected abstract discardInput (): void

  /**
   * Send everything that `send` accepted, then FIN, and resolve at the peer's
   * FIN, or `closeTimeout` ms after ours was handed to the kernel. From the call
   * on nothing more is delivered, and nothing more can be sent unless what was
   * sent before still waits for the socket to drain, or in a queue above: of that
   * `send` takes {@link MAX_HELD_BYTES}, and throws then.
   *
   * The signal ends the wait, not the close: to give up call `abort`.
   *
   * @throws {Error} what ended the connection before everything was sent
   */
  async close (options?: AbortOptions): Promise<void> {
    if (this.status === 'open' || this.status === 'closing') {
      // what came before anybody listened, or while paused
      this.readBuffer.consume(this.readBuffer.byteLength)
    } else if (!this.#isAwaited) {
      // it was over before anybody closed it
      return
    }

    this.#isAwaited = true

    if (this.#closing == null) {
      this.closedBy ??= 'local'

      // While the socket is full, the encrypter above may hold back what did not
      // fit, and sends it after 'drain', and one with a queue does so turn by turn:
      // that too was accepted by its `send`
      if (!this.#isPending() && !this.#hasQueueAbove) {
        this.writeStatus = 'closing'
      }

      this.remoteWriteStatus = this.remoteWriteStatus === 'closed' ? 'closed' : 'closing'

      if (this.socket.isPaused() || this.socket.readableEnded) {
        // who does not read is told of no reset
        probe(this.socket)
      }

      this.discardInput()
      this.closeGracefully()
    }

    return raceSignal(this.#closing?.promise, options?.signal)
  }

  protected closeGracefully (): void {
    this.status = 'closing'
    this.remoteReadStatus = this.remoteReadStatus === 'closed' ? 'closed' : 'closing'
    this.#closing = Promise.withResolvers()
    // whoever waits is told, but nobody has to wait
    this.#closing.promise.catch(() => {})

    const sent = this.writeStatus === 'closing' ? this.sendClose() : this.#sendAll()

    sent.catch(() => {
      // aborted or reset meanwhile: the 'close' event has told. Or the logger throws.
    })
  }

  async #sendAll (): Promise<void> {
    do {
      await this.#flush()
      // whoever heard of the peer's FIN may have answered it meanwhile
    } while (this.status === 'closing' && this.#isPending())

    await this.sendClose()
  }

  #isPending (): boolean {
    return this.writableNeedsDrain || this.writeBuffer.byteLength > 0
  }

  /** Everything was handed to the kernel, and the FIN is about to be, if it was not yet */
  #isSent (): boolean {
    const { destroyed, writableEnded, writableFinished, writableLength } = this.socket

    // of a socket that is destroyed nothing waits either: what did is lost
    return writableFinished || (writableEnded && writableLength === 0 && !destroyed)
  }

  async #flush (): Promise<void> {
    // whoever hears of the peer's FIN may answer it
    await Promise.resolve()

    let turns = this.#hasQueueAbove ? QUIET_TURNS : 0

    if (turns === 0 && !this.#isPending()) {
      return
    }

    while (this.status === 'closing' && (turns > 0 || this.#isPending())) {
      const { bytesWritten } = this.socket
      const wasPending = this.#isPending()

      // the base class forgets what is sent while it tells that it is idle
      this.processSendQueue()
      await this.onDrain()
      // let whoever waited for 'drain' send
      await new Promise<void>(resolve => { setImmediate(resolve) })

      if (this.#hasQueueAbove) {
        turns = wasPending || this.socket.bytesWritten !== bytesWritten ? QUIET_TURNS : turns - 1
      }
    }
  }

  async sendClose (): Promise<void> {
    if (this.status !== 'closing') {
      return
    }

    this.writeStatus = 'closing'
    this.writes.flush()

    if (this.socket.destroyed && !this.socket.writableFinished) {
      // from elsewhere: the 'close' event is about to tell that not all was sent
      return
    }

    const closed = await finish(this.socket, this.settings.closeTimeout)

    if (this.status !== 'closing') {
      return
    }

    this.onTransportClosed()

    if (!closed) {
      this.log('peer did not close within %dms, lingering', this.settings.closeTimeout)
      this.#lingering.linger(this.socket)
    }
  }

  sendReset (): void {
    this.writes.drop()

    // After FIN there must be no reset: uv_tcp_close_reset and uv_shutdown exclude
    // each other. Node calls the latter when nothing waits any more.
    // https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_close_reset
    if (this.#isSent()) {
      // what remains to abort is the wait for the peer
      this.#lingering.linger(this.socket)
    } else {
      reset(this.socket)
    }
  }

  /**
   * Completes what the base class dispatches by the side that closed, and settles
   * `close()`.
   */
  dispatchEvent (event: Event): boolean {
    if (event.type === 'close') {
      const closeEvent = event as StreamCloseEvent
      closeEvent.local ??= this.closedBy === 'local'

      if (this.status === 'closed' || this.#isSent()) {
        this.#closing?.resolve()
      } else {
        this.#closing?.reject(closeEvent.error ?? new ConnectionClosedError())
      }
    }

    return super.dispatchEvent(event)
  }
}
