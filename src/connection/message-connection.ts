import { StreamMessageEvent } from '@libp2p/interface'
import { Uint8ArrayList, isUint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES, copyOf } from '../bytes/copy-run.ts'
import { QUIET_TURNS } from './closing.ts'
import { DrainOrder } from './drain-order.ts'
import { DrainingConnection } from './draining-connection.ts'
import { EarlyStreams } from './early-streams.ts'
import { Incoming } from './incoming.ts'
import { MAX_WRITE_BYTES, Outgoing } from './outgoing.ts'
import { waitsForEncrypter } from './waits-for-encrypter.ts'
import type { Unsent } from './closing.ts'
import type { Reader } from './incoming.ts'
import type { Writer } from './outgoing.ts'
import type { WireFilter } from './wire-filter.ts'
import type { ConnectionSettings } from '../settings.ts'
import type { AbortOptions, Stream } from '@libp2p/interface'
import type { AbstractMultiaddrConnectionInit, SendResult } from '@libp2p/utils'
import type { Socket } from 'node:net'

export interface MessageConnectionInit extends Omit<AbstractMultiaddrConnectionInit, 'inactivityTimeout'> {
  /** A connected socket, created with `allowHalfOpen: true` */
  socket: Socket
  settings: ConnectionSettings

  /** Stands between the connection and the socket at first */
  filter?: WireFilter

  /**
   * How long data that the filter has answered waits for the next `send`, in ms: the reader of the answer will send
   * more. With 0 it leaves like any other
   */
  gather?: number
}

/**
 * What a connection over a socket sends and receives. In libp2p's base class all of it goes through lists, which cost more than
 * a small message itself. Here it takes the direct way if nothing waits, which is nearly always
 */
export abstract class MessageConnection extends DrainingConnection implements Reader, Writer {
  protected readonly socket: Socket
  protected readonly incoming: Incoming
  protected readonly outgoing: Outgoing

  /** For how many turns of the event loop an encrypter may still write after `close`. Only those that queue pause a connection */
  #quietTurns = 0
  readonly #gather: number

  /** Until it is done */
  #filter?: WireFilter

  /** Exists once a muxer shares the connection among streams */
  #drainOrder?: DrainOrder

  /** Exists while a peer that was dialed may not listen for streams yet */
  #earlyStreams?: EarlyStreams

  constructor ({ socket, settings, filter, gather = 0, ...init }: MessageConnectionInit) {
    super({ ...init, inactivityTimeout: settings.inactivityTimeout })

    this.socket = socket
    this.#filter = filter
    this.#gather = gather
    this.incoming = new Incoming(socket, this)
    this.outgoing = new Outgoing(socket, settings.stalledWriteTimeout, this)
  }

  /** Of the peer, while the socket is open. A multiaddr may hold a name */
  get remoteIP (): string | undefined {
    return this.socket.remoteAddress
  }

  get [waitsForEncrypter] (): true {
    return true
  }

  abstract close (options?: AbortOptions): Promise<void>

  abstract onStalledWrite (): void

  /** Only the base class's `close` calls it */
  async sendClose (): Promise<void> {}

  /** As the base class's */
  onData (data: Uint8Array | Uint8ArrayList): void {
    const isDirect = this.readStatus === 'readable' &&
      this.remoteWriteStatus !== 'closed' &&
      this.readBuffer.byteLength === 0 &&
      data.byteLength > 0 &&
      this.listenerCount('message') > 0

    if (isDirect) {
      this.dispatchEvent(new StreamMessageEvent(new Uint8ArrayList(data)))
    } else {
      super.onData(data)
    }
  }

  /** As the base class's */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    const isDirect = this.writeStatus === 'writable' &&
      !this.writableNeedsDrain &&
      !this.sendingData &&
      this.writeBuffer.byteLength === 0 &&
      this.maxMessageSize == null &&
      this.#filter == null &&
      this.#earlyStreams?.holds() !== true &&
      this.listenerCount('idle') === 0 &&
      (data instanceof Uint8Array || isUint8ArrayList(data)) &&
      data.byteLength > 0 &&
      data.byteLength <= MAX_WRITE_BYTES

    if (!isDirect) {
      // the base class keeps it until the socket drains, while the caller may use its buffer again
      return super.send(this.writableNeedsDrain && data.byteLength < COPY_BYTES ? copyOf(data) : data)
    }

    this.log.trace('send %d bytes', data.byteLength)
    this.writableNeedsDrain = !this.#write(data)

    return !this.writableNeedsDrain
  }

  /** Sends what could not go the direct way, for example because it waited for 'drain' */
  sendData (all: Uint8ArrayList): SendResult {
    if (this.#earlyStreams?.holds() === true) {
      return { sentBytes: 0, canSendMore: false }
    }

    // the rest stays in the write buffer of the base class
    const data = all.byteLength > MAX_WRITE_BYTES ? all.sublist(0, MAX_WRITE_BYTES) : all
    const answer = this.#filtered(filter => filter.onSend(data), undefined)

    if (answer != null) {
      if (this.#gather > 0) {
        this.outgoing.gather(this.#gather)
      }

      // not before `send` has returned
      queueMicrotask(() => {
        if (this.status === 'open') {
          this.onData(answer)
        }
      })
    }

    return {
      sentBytes: data.byteLength,
      canSendMore: this.#write(data)
    }
  }

  onRead (data: Uint8Array): void {
    this.outgoing.onPeerData()
    this.onData(data)
    this.#earlyStreams?.onReceived()
  }

  sendPause (): void {
    this.#quietTurns = QUIET_TURNS

    if (this.status === 'open') {
      this.socket.pause()
    }
  }

  sendResume (): void {
    // the reader of what had been kept may have paused again
    if (this.readStatus !== 'paused') {
      this.socket.resume()
    }
  }

  /** Called whenever somebody may have begun to listen */
  protected dispatchReadBuffer (): void {
    super.dispatchReadBuffer()
    this.incoming.tryResume()
  }

  /** A muxer shares the connection from now on. `streams` is the array of the muxer */
  onMuxed (streams: Stream[], isDialed: boolean): void {
    this.#drainOrder = new DrainOrder(streams)

    if (isDialed && this.status === 'open') {
      this.#earlyStreams = new EarlyStreams(streams, () => { this.endEarlyStreams() })
    }
  }

  protected endEarlyStreams (): void {
    const isHolding = this.#earlyStreams?.holds()

    this.#earlyStreams?.end()
    this.#earlyStreams = undefined

    if (isHolding === true && (this.status === 'open' || this.status === 'closing')) {
      this.onSocketDrain()
    }
  }

  /** The socket has read this. Once closing, everything is read and thrown away, also while the socket lingers */
  protected receive (data: Uint8Array): void {
    if (this.status !== 'open') {
      return
    }

    const received = this.#filtered(filter => filter.onReceive(data), data)

    if (received != null) {
      this.incoming.add(received)
    }
  }

  /**
   * The peer has sent FIN or RST.
   *
   * @returns whether the connection lives on
   */
  protected receiveEnd (): boolean {
    return this.#filtered(filter => {
      filter.onEnd()

      return true
    }, true) === true
  }

  /** Node also emits 'drain' if the kernel took everything at once and nobody had to wait */
  protected onSocketDrain (): void {
    if (this.writableNeedsDrain && this.#earlyStreams?.holds() !== true) {
      this.#drainOrder?.next()
      this.safeDispatchEvent('drain')
    }
  }

  /** For a close */
  protected unsent (): Unsent {
    return {
      quietTurns: () => this.#quietTurns,
      // While the socket is full, an encrypter may hold back what its own `send` has accepted,
      // and sends it after 'drain'
      isPending: () => this.writableNeedsDrain || this.writeBuffer.byteLength > 0,
      drain: async () => {
        // the base class forgets what handlers of its 'idle' event send
        this.processSendQueue()
        await this.onDrain()
      },
      end: () => {
        this.writeStatus = 'closing'
        this.outgoing.flush()
      }
    }
  }

  /** @returns whether the socket takes more; it has taken all of this */
  #write (data: Uint8Array | Uint8ArrayList): boolean {
    const canSendMore = this.outgoing.write(data)

    this.#earlyStreams?.onSent()

    return canSendMore
  }

  /** @returns what the filter answers, or `without` one. Nothing if it has aborted the connection */
  #filtered <T> (ask: (filter: WireFilter) => T, without: T): T | undefined {
    const filter = this.#filter

    if (filter == null) {
      return without
    }

    try {
      const answer = ask(filter)

      if (filter.done) {
        this.#filter = undefined
      }

      return answer
    } catch (err: any) {
      this.#filter = undefined
      this.abort(err)
    }
  }
}
