import { InvalidParametersError, MuxerClosedError, StreamStateError, TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { AbstractStreamMuxer } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { closeBatcher, openBatcher } from '../event-loop/flush-soon.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import { YAMUX } from '../libp2p.ts'
import { REASONS, isProposed } from '../optimistic/when-to-propose.ts'
import { safeLog, spareScope } from '../safe-logger.ts'
import { sharingMuxers } from '../sharing-muxers.ts'
import { InvalidFrameError, ProtocolError } from './errors.ts'
import { Flag, FrameType, GoAwayCode } from './frames.ts'
import { Pings } from './pings.ts'
import { Proposing } from './proposing.ts'
import { Reading } from './reading.ts'
import { Receiving } from './receiving.ts'
import { Sending } from './sending.ts'
import { StreamGate } from './stream-gate.ts'
import { YamuxStream } from './stream.ts'
import type { Frame } from './decoder.ts'
import type { FrameHeader } from './frames.ts'
import type { NodeUnread } from './node-unread.ts'
import type { ProposingInit } from './proposing.ts'
import type { StreamOwner } from './sending-stream.ts'
import type { CreateOptions } from '../optimistic/when-to-propose.ts'
import type { AbortOptions, EventHandler, MessageStream, StreamCloseEvent, StreamMuxerEvents } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** How long `close()` waits for the peer's answers to proposals before FIN leaves all the same, in ms */
const REPLY_GRACE = 250

/**
 * - `alive`: frames are sent and received, also after `close()`
 * - `aborting`: the last frames leave
 * - `over`: the connection has ended, or was given up
 */
type Life = 'alive' | 'aborting' | 'over'

/** What all muxers of a node share */
export interface YamuxShared extends ProposingInit {
  unread: NodeUnread
}

/**
 * A connection that is shared by streams: /yamux/1.0.0. Of the base class it overrides
 *
 * - `createStream`: proposes the protocol of a stream, and opens no more than the peer is ready for
 * - `close`: all callers share one close, which waits for streams that are closing already
 * - `abort`, `onTransportClosed`: streams without the peer's FIN learn that something is missing
 * - `addEventListener`: who listens for streams owns the muxer. What comes before waits in the connection
 *
 * @see https://github.com/hashicorp/yamux/blob/master/spec.md
 */
export class YamuxMuxer extends AbstractStreamMuxer<YamuxStream> {
  readonly #shared: YamuxShared
  readonly #isClient: boolean
  readonly #byId = new Map<number, YamuxStream>()
  readonly #sending: Sending
  readonly #receiving: Receiving<YamuxStream>
  readonly #proposing: Proposing
  readonly #owner: StreamOwner<YamuxStream>
  readonly #pings: Pings
  readonly #gate: StreamGate
  #nextId: number
  #inbound = 0
  #outbound = 0

  // not private by #: the base class adds listeners in its constructor
  private readonly reading?: Reading

  /** Streams of which the peer is told in this turn of the event loop, or that it opened */
  #opening: YamuxStream[] = []

  /** Why the peer opens no more streams */
  #remoteGoAway?: number
  #closing?: Promise<void>

  #life: Life = 'alive'

  /** Why the connection has ended. Set by its 'close' event, which the base class hears next */
  readonly #ended: { error?: Error }

  constructor (maConn: MessageStream, shared: YamuxShared) {
    const ended: { error?: Error } = {}

    // before the base class listens, which is told of no error
    maConn.addEventListener('close', ({ error }: StreamCloseEvent) => { ended.error = error }, { once: true })

    super(maConn, { ...shared.settings, protocol: YAMUX, name: 'yamux' })

    this.log = safeLog(this.log)
    this.#ended = ended
    this.#shared = shared
    this.#isClient = maConn.direction === 'outbound'
    this.#nextId = this.#isClient ? 1 : 2
    this.#gate = new StreamGate(maConn)
    this.#proposing = new Proposing(this, shared)
    this.#pings = new Pings(number => {
      this.#sending.ping(Flag.syn, number)
      this.#sending.measure()
    }, this.log)
    this.#sending = new Sending({
      connection: maConn,
      hasWindow: shared.settings.sendWindow,
      isOpen: () => this.#isOpen,
      startPing: () => { this.#pings.start() },
      roundTrip: () => this.#receiving.roundTrip.ms,
      onFailed: err => { this.#onSendFailed(err) }
    })
    this.#receiving = new Receiving({
      settings: shared.settings,
      unread: shared.unread,
      streams: this.streams,
      remindOf: ({ streamId }) => { this.#sending.update(streamId, 0, 0) },
      giveUp: err => { this.#fail(err) }
    })
    this.#owner = {
      sending: this.#sending,
      receiving: this.#receiving,
      isOpen: () => this.#isOpen,
      onFinLeft: stream => { this.#proposing.onFinLeft(stream) },
      onEnd: stream => { this.#onEnd(stream) }
    }
    this.reading = new Reading({
      connection: maConn,
      log: this.log,
      isOwned: this.listenerCount('stream') > 0,
      isOver: () => this.#life === 'over',
      onDataHeader: header => this.#receiving.mayKeep(header, this.#byId.get(header.streamId)),
      onPart: (streamId, bytes) => { this.#onPart(streamId, bytes) },
      onFrame: frame => { this.#onFrame(frame) },
      onFailed: err => { this.#fail(err) }
    })
    sharingMuxers.add(this.streams)
    openBatcher()

    if (shared.settings.enableKeepAlive) {
      this.#pings.keepAlive(shared.settings.keepAliveInterval)
    }
  }

  // --- opening streams

  async createStream (options: CreateOptions = {}): Promise<YamuxStream> {
    const { protocol, signal } = options

    this.reading?.own()

    // libp2p's negotiation in full checks the signal itself
    if (isProposed(this.#proposing.reasonFor(options)) && signal?.aborted === true) {
      throw signal.reason
    }

    const held = this.#proposing.heldFor(protocol)

    // await only if necessary: libp2p opens a stream in the turn that asks for it
    if (held.length > 0) {
      await this.#proposing.finsLeft(held, signal)
    }

    if (!this.#gate.tryEnter()) {
      await this.#gate.enter(signal)
    }

    let stream: YamuxStream

    try {
      stream = await super.createStream(options)
    } catch (err) {
      this.#gate.abandoned()
      throw err
    }

    // not before: others may have been opened, and the peer may have refused the protocol
    const reason = this.#proposing.reasonFor(options)

    stream.log(REASONS[reason], protocol)

    if (protocol == null || !isProposed(reason)) {
      this.#proposing.watch(stream)
      this.#openSoon(stream)
    } else if (stream.status !== 'open') {
      throw new StreamStateError(`The stream is ${stream.status}`)
    } else if (signal?.aborted === true) {
      // it may have fired since this was called
      stream.abort(signal.reason)
      throw signal.reason
    } else {
      this.#proposing.propose(stream, protocol, signal)
    }

    return stream
  }

  onCreateStream (): YamuxStream {
    const { maxOutboundStreams } = this.#shared.settings

    if (this.#outbound >= maxOutboundStreams) {
      throw new TooManyOutboundProtocolStreamsError(`${this.#outbound} streams were opened, and ${maxOutboundStreams} may be`)
    }

    const streamId = this.#nextId

    this.#nextId += 2
    this.#outbound++

    return this.#newStream(streamId, 'outbound')
  }

  #newStream (streamId: number, direction: 'inbound' | 'outbound'): YamuxStream {
    const { firstWindow, maxMessageSize } = this.#shared.settings
    const stream = new YamuxStream({
      ...this.streamOptions,
      id: `${streamId}`,
      streamId,
      direction,
      owner: this.#owner,
      sendWindow: firstWindow,
      maxMessageSize,
      log: spareScope(this.log, `${direction}:${streamId}`)
    })

    this.#byId.set(streamId, stream)

    return stream
  }

  /** Its first frame tells the peer of the stream, or acknowledges it. In this turn there may be one with data */
  #openSoon (stream: YamuxStream): void {
    if (this.#opening.push(stream) === 1) {
      setImmediate(() => {
        const streams = this.#opening

        this.#opening = []
        streams.forEach(stream => { stream.open() })
      })
    }
  }

  // --- sending

  get #isOpen (): boolean {
    return this.#life !== 'over' && (this.maConn.status === 'open' || this.maConn.status === 'closing')
  }

  /** A connection that is closing takes no more, and reports its own end. The last frames of an abort may be too much for a full one */
  #onSendFailed (err: Error): void {
    if (this.maConn.status === 'open' && this.#life === 'alive') {
      this.#fail(err)
    }
  }

  // --- receiving

  onData (data: Uint8Array | Uint8ArrayList): void {
    if (this.#life === 'over') {
      return
    }

    this.#receiving.onMessage(data.byteLength)
    this.reading?.push(data)
    this.#sending.answer()
  }

  #onPart (streamId: number, bytes: number): void {
    const stream = this.#byId.get(streamId)

    if (stream?.isReceiving === true) {
      this.#receiving.onPart(stream, bytes)
    }
  }

  #onFrame (frame: Frame): void {
    const { type, flags, streamId, length, data } = frame

    if (streamId === 0) {
      this.#onConnectionFrame(frame)
      return
    }

    if (type !== FrameType.data && type !== FrameType.windowUpdate) {
      throw new InvalidFrameError(`Frames of type ${type} are about no stream`)
    }

    let stream = this.#byId.get(streamId)

    if (stream == null && (flags & Flag.syn) !== 0) {
      stream = this.#accept(streamId)

      if (stream != null && data != null) {
        this.#receiving.onPart(stream, length)
      }
    }

    // a muxer by itself acknowledges, and refuses by RST. FIN is its owner's
    const isOwners = (flags & Flag.fin) !== 0 || (type === FrameType.data && (length > 0 || (flags & Flag.rst) !== 0))

    if (stream == null) {
      if (isOwners && this.#isOurs(streamId)) {
        this.#gate.heard()
      }

      return
    }

    if (isOwners && !stream.isAnswered && stream.direction === 'outbound') {
      this.#answered(stream)
    }

    if (type === FrameType.windowUpdate) {
      if (length > 0) {
        this.#sending.onRead()
      }

      if ((flags & (Flag.syn | Flag.ack)) !== 0) {
        this.#receiving.onOpened(stream)
      }
    }

    stream.onFrame(frame)
  }

  #onConnectionFrame ({ type, flags, length }: FrameHeader): void {
    if (type === FrameType.goAway) {
      this.#onGoAway(length)
    } else if (type !== FrameType.ping) {
      throw new InvalidFrameError(`Frames of type ${type} are about a stream`)
    } else if (flags === Flag.syn) {
      this.#sending.ping(Flag.ack, length)
    } else if (flags === Flag.ack) {
      const now = performance.now()

      this.#receiving.roundTrip.add(this.#pings.onAnswer(length, now), now)
      this.#sending.onPong(now)
    } else {
      throw new InvalidFrameError(`A ping has flags ${flags}`)
    }
  }

  /** What is open goes on: the peer opens no more, and has answers to give. js-yamux ends all streams here. After an error the connection is of no use */
  #onGoAway (reason: number): void {
    this.log('the peer opens no more streams, reason %d', reason)
    this.#remoteGoAway = reason

    if (reason !== GoAwayCode.normalTermination) {
      this.#fail(new MuxerClosedError(`The peer has closed the muxer for reason ${reason}`))
    } else if (this.status === 'open') {
      this.status = 'closing'
    }
  }

  /** @returns undefined if the stream is refused */
  #accept (streamId: number): YamuxStream | undefined {
    if (this.#isOurs(streamId)) {
      throw new InvalidParametersError('Both endpoints are clients')
    }

    if (this.status !== 'open' || this.#inbound >= this.#shared.settings.maxInboundStreams) {
      this.log('refuse stream %d, %d are open', streamId, this.#inbound)
      this.#sending.update(streamId, Flag.rst, 0)

      return
    }

    this.#inbound++
    this.#gate.heard()

    const stream = this.#newStream(streamId, 'inbound')

    this.#openSoon(stream)
    this.onRemoteStream(stream)

    return stream
  }

  #isOurs (streamId: number): boolean {
    return this.#isClient === (streamId % 2 === 1)
  }

  /** The peer has something to say to a stream of ours, so it is ready for more */
  #answered (stream: YamuxStream): void {
    stream.isAnswered = true
    this.#gate.answered()
  }

  /** What streams hold that nobody has read, in bytes */
  get unread (): number {
    return this.#receiving.unread
  }

  /** The stream sends and receives nothing any more */
  #onEnd (stream: YamuxStream): void {
    this.#byId.delete(stream.streamId)
    this.#receiving.onEnd(stream)

    if (stream.direction === 'inbound') {
      this.#inbound--
      return
    }

    this.#outbound--
    this.#proposing.onFinLeft(stream)

    if (!stream.isAnswered) {
      stream.isAnswered = true
      this.#gate.abandoned()
    }
  }

  // --- the owner

  addEventListener<K extends keyof StreamMuxerEvents<YamuxStream>>(type: K, listener: EventHandler<StreamMuxerEvents<YamuxStream>[K]> | null, options?: boolean | AddEventListenerOptions): void
  addEventListener (type: string, listener: EventHandler<Event>, options?: boolean | AddEventListenerOptions): void
  addEventListener (...args: any[]): void {
    super.addEventListener(...args as [any, any, any])

    if (args[0] === 'stream' && this.reading != null) {
      // listeners are added in constructors: what they use may not be there yet
      queueMicrotask(() => { this.reading?.own() })
    }
  }

  // --- pings

  /**
   * Sends a ping, unless one is on its way.
   *
   * @returns the round trip in ms
   * @throws {MuxerClosedError} if one of the two ends has closed the muxer
   */
  async ping (options?: AbortOptions): Promise<number> {
    if (this.status !== 'open') {
      throw new MuxerClosedError(this.#remoteGoAway == null ? 'Muxer closed locally' : 'Muxer closed remotely')
    }

    return this.#pings.ping(options)
  }

  /** The last round trip, in ms. -1 before the first ping was answered */
  getRTT (): number {
    return this.#pings.roundTrip
  }

  // --- the end

  /**
   * Closes all streams: what they have to send leaves first. A signal ends the wait of its caller, not the close.
   */
  async close (options?: AbortOptions): Promise<void> {
    if (this.status === 'closed') {
      return
    }

    this.#closing ??= this.#close()
    await raceSignal(this.#closing, options?.signal)
  }

  /** What streams still receive is read until the connection ends */
  async #close (): Promise<void> {
    this.status = 'closing'

    // a peer that does not reply must not delay the close
    const timer = setTimeout(() => {
      this.#proposing.allowFins()
    }, REPLY_GRACE)

    // what nobody has answered goes on until the others have sent all: it may be answered meanwhile
    await Promise.all(this.streams.filter(({ isUnanswered }) => !isUnanswered).map(async stream => stream.closeWrite()))
    await Promise.all(this.streams.map(async stream => stream.closeWrite()))
    clearTimeout(timer)

    this.status = 'closed'
    this.#pings.stopKeepAlive()
    this.#sending.goAway(GoAwayCode.normalTermination)
  }

  abort (err: Error): void {
    if (this.#life !== 'alive') {
      return
    }

    this.#life = 'aborting'
    this.status = 'closing'
    this.log.error('abort the muxer - %e', err)
    ;[...this.streams].forEach(stream => { stream.abort(err) })
    this.#sending.goAway(err instanceof ProtocolError ? err.reason : GoAwayCode.internalError)
    this.#end()
  }

  /** The connection has ended. Streams without the peer's FIN have lost something */
  onTransportClosed (err: Error | undefined = this.#ended.error): void {
    if (this.#life !== 'over') {
      this.#end()
      ;[...this.streams].forEach(stream => { stream.onConnectionEnd(err) })
    }
  }

  #fail (err: Error): void {
    if (this.#life !== 'over') {
      this.abort(err)
      this.maConn.abort(err)
    }
  }

  /** Nothing is sent or received any more */
  #end (): void {
    // who listens to a stream may have ended the connection while the streams were aborted
    if (this.#life === 'over') {
      return
    }

    this.#life = 'over'
    this.status = 'closed'
    this.#pings.end()
    this.#sending.end()
    this.#receiving.end()
    closeBatcher()
  }
}
