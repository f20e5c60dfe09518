import { InvalidParametersError, MuxerClosedError, StreamBufferError, StreamStateError, TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { AbstractStreamMuxer } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { closeBatcher, openBatcher } from '../event-loop/flush-soon.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import { YAMUX } from '../libp2p.ts'
import { Proposal } from '../optimistic/proposal.ts'
import { REASONS, isProposed, reasonFor } from '../optimistic/when-to-propose.ts'
import { safeLog } from '../safe-logger.ts'
import { sharingMuxers } from '../sharing-muxers.ts'
import { Decoder } from './decoder.ts'
import { InvalidFrameError, ProtocolError, ReceiveWindowExceededError } from './errors.ts'
import { Flag, FrameType, GoAwayCode } from './frames.ts'
import { Line } from './line.ts'
import { Outbox } from './outbox.ts'
import { PeerReminders } from './peer-reminders.ts'
import { Pings } from './pings.ts'
import { ReceiveWindow } from './receive-window.ts'
import { RoundTrip } from './round-trip.ts'
import { StreamGate } from './stream-gate.ts'
import { YamuxStream } from './stream.ts'
import { Turns } from './turns.ts'
import { WindowBudget } from './window-budget.ts'
import type { Frame } from './decoder.ts'
import type { FrameHeader } from './frames.ts'
import type { NodeUnread } from './node-unread.ts'
import type { YamuxSettings } from './settings.ts'
import type { StreamMuxerPart } from './stream.ts'
import type { KnownProtocols } from '../optimistic/known-protocols.ts'
import type { ProposalOutcome } from '../optimistic/proposal.ts'
import type { HandlerLimits } from '../optimistic/protocol-limit.ts'
import type { CreateOptions, Reason } from '../optimistic/when-to-propose.ts'
import type { AbortOptions, EventHandler, MessageStream, StreamCloseEvent, StreamMuxerEvents } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What is sent before the line is measured, in bytes: a connection that sends little costs nothing */
const MUCH = 64 * 1024

/** What the windows of a connection may have together, besides the first one that each stream has, in bytes */
const EXTRA_WINDOWS = 32 * 1024 * 1024

/** What a connection may hold that nobody reads, in bytes: the extra windows, and 128 first windows */
const MAX_UNREAD = 64 * 1024 * 1024

/** What may wait in a connection that takes no more, in bytes: answers to pings and refusals, which a peer asks for and does not read */
const MAX_UNDRAINED = 1024 * 1024

/** How long `close()` waits for the peer's answers to proposals before FIN leaves all the same, in ms */
const REPLY_GRACE = 250

/**
 * - `alive`: frames are sent and received, also after `close()`
 * - `aborting`: the last frames leave
 * - `over`: the connection has ended, or was given up
 */
type Life = 'alive' | 'aborting' | 'over'

/** What all muxers of a node share */
export interface YamuxShared {
  settings: YamuxSettings
  unread: NodeUnread

  /** Undefined if nothing tells what peers speak */
  known?: KnownProtocols
  handlers(): HandlerLimits | undefined
  onOutcome(outcome: ProposalOutcome): void
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
export class YamuxMuxer extends AbstractStreamMuxer<YamuxStream> implements StreamMuxerPart {
  readonly turns: Turns
  readonly #shared: YamuxShared
  readonly #isClient: boolean
  readonly #byId = new Map<number, YamuxStream>()
  readonly #outbox: Outbox
  readonly #decoder: Decoder
  readonly #pings: Pings
  readonly #roundTrip = new RoundTrip()
  readonly #gate: StreamGate
  #nextId: number
  #inbound = 0
  #outbound = 0

  /** Whether the connection takes no more, and what was sent since then, in bytes */
  #isFull = false
  #undrained = 0

  /** What was sent, in bytes */
  #sent = 0

  /** Exists once much was sent */
  #line?: Line

  /** What the windows share. Exists once the peer has sent data */
  #budget?: WindowBudget
  readonly #reminders: PeerReminders
  #unread = 0

  /**
   * Who listens for streams
   *
   * - `none`: nobody, and no stream has come
   * - `held`: nobody, and what comes waits in the connection
   * - `owned`: somebody, or somebody opens streams
   */
  // not private by #: the base class adds listeners in its constructor
  private owner?: 'none' | 'held' | 'owned'

  /** What came first while nobody listened for streams */
  #heldFrame?: Frame

  /** Streams of which the peer is told in this turn of the event loop, or that it opened */
  #opening: YamuxStream[] = []

  /** Those whose protocol was proposed and whose FIN has not left yet. Exists only with one */
  #proposing?: Set<YamuxStream>

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
    this.turns = new Turns(() => this.#line?.frameBytes)
    this.#outbox = new Outbox({
      send: bytes => { this.#send(bytes) },
      frameBytes: () => this.#line?.frameBytes
    })
    this.#decoder = new Decoder({
      onDataHeader: header => this.#onDataHeader(header),
      onPart: (streamId, bytes) => { this.#onPart(streamId, bytes) }
    })
    this.#pings = new Pings(number => { this.#sendPing(number) }, this.log)
    this.#reminders = new PeerReminders(this, stream => { this.sendUpdate(stream, 0, 0) })
    sharingMuxers.add(this.streams)
    this.owner = this.listenerCount('stream') > 0 ? 'owned' : 'none'

    maConn.addEventListener('drain', this.#onDrain)
    openBatcher()

    if (shared.settings.enableKeepAlive) {
      this.#pings.keepAlive(shared.settings.keepAliveInterval)
    }
  }

  // --- opening streams

  async createStream (options: CreateOptions = {}): Promise<YamuxStream> {
    const { protocol, signal } = options

    this.#own()

    // libp2p's negotiation in full checks the signal itself
    if (isProposed(this.#reasonFor(options)) && signal?.aborted === true) {
      throw signal.reason
    }

    // await only if necessary: libp2p opens a stream in the turn that asks for it
    if (this.#proposing != null && protocol != null) {
      await this.#heldFins(protocol, signal)
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
    const reason = this.#reasonFor(options)

    stream.log(REASONS[reason], protocol)

    if (protocol == null || !isProposed(reason)) {
      this.#shared.known?.watch(this, stream)
      this.#openSoon(stream)
    } else if (stream.status !== 'open') {
      throw new StreamStateError(`The stream is ${stream.status}`)
    } else if (signal?.aborted === true) {
      // it may have fired since this was called
      stream.abort(signal.reason)
      throw signal.reason
    } else {
      this.#propose(stream, protocol, signal)
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
      muxer: this,
      sendWindow: firstWindow,
      maxMessageSize,
      log: this.log.newScope(`${direction}:${streamId}`)
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

  #reasonFor (options: CreateOptions): Reason {
    const { known, handlers, settings } = this.#shared

    if (!settings.optimistic) {
      return options.protocol == null ? 'several' : 'told'
    }

    return reasonFor(options, {
      streams: this.streams,
      isKnown: protocol => known?.has(this, protocol) === true,
      handlers
    })
  }

  #propose (stream: YamuxStream, protocol: string, signal?: AbortSignal): void {
    const { known, onOutcome, settings } = this.#shared
    const wasStored = known?.has(this, protocol) === true ? undefined : known?.wasStored(this, protocol)

    this.#proposing = (this.#proposing ?? new Set()).add(stream)
    stream.propose(new Proposal({
      protocol,
      replyTimeout: settings.replyTimeout,
      signal,
      // as long as libp2p's own dialer awaits its peer store before the application has the stream, and a turn longer
      settle: async () => {
        await known?.store(this, protocol)
        await new Promise<void>(resolve => { setImmediate(resolve) })
      },
      onFailed: error => { stream.fail(error) },
      onFinChange: () => { stream.onFinChange() },
      onOutcome: outcome => {
        stream.log('proposal of %s was %s', protocol, outcome)
        onOutcome(outcome)

        if (outcome === 'accepted') {
          known?.add(this, protocol)
        } else if (outcome === 'refused') {
          known?.revoke(this, protocol, wasStored)
        } else if (outcome === 'unanswered') {
          known?.doubt(this, protocol)
        }
      }
    }))
  }

  /**
   * Streams of a protocol that were closed before the peer has replied count at the peer until their FIN has left, and
   * its limit, which we do not know, may be one
   */
  async #heldFins (protocol: string, signal?: AbortSignal): Promise<void> {
    const held = [...this.#proposing ?? []].filter(stream => stream.isFinHeld && stream.proposal?.protocol === protocol)

    if (held.length > 0) {
      await raceSignal(Promise.all(held.map(async stream => stream.closeWrite())), signal)
    }
  }

  // --- sending

  get isOpen (): boolean {
    return this.#life !== 'over' && (this.maConn.status === 'open' || this.maConn.status === 'closing')
  }

  sendData ({ streamId }: YamuxStream, flags: number, data: Uint8Array | Uint8ArrayList): void {
    this.#outbox.add(FrameType.data, flags, streamId, data.byteLength, data)
  }

  sendUpdate ({ streamId }: YamuxStream, flags: number, bytes: number): void {
    this.#outbox.add(FrameType.windowUpdate, flags, streamId, bytes, undefined, flags !== 0)
  }

  flushLarge (): void {
    this.#outbox.flushLarge()
  }

  #send (bytes: Uint8Array | Uint8ArrayList): void {
    // the connection may take the bytes out of a list
    const { byteLength } = bytes

    if (!this.isOpen) {
      return
    }

    try {
      const canSendMore = this.maConn.send(bytes)

      this.#onSent(byteLength, canSendMore)
    } catch (err: any) {
      // A connection that is closing takes no more, and reports its own end. The last frames of an abort may be too much for a full one
      if (this.maConn.status === 'open' && this.#life === 'alive') {
        this.#fail(err)
      }
    }
  }

  #onSent (bytes: number, canSendMore: boolean): void {
    this.#sent += bytes

    if (this.#isFull) {
      this.#undrained += bytes

      if (this.#undrained > MAX_UNDRAINED) {
        throw new StreamBufferError(`The peer reads nothing, and ${this.#undrained} bytes of answers wait`)
      }
    } else if (!canSendMore) {
      this.#isFull = true
      this.#undrained = 0
    }

    if (this.#line == null && this.#sent > MUCH && this.#shared.settings.sendWindow) {
      this.#line = new Line({
        ping: () => { this.#pings.start() },
        onRoom: () => {
          if (!this.#isFull) {
            this.turns.onDrained()
          }
        }
      }, this.#roundTrip.ms)
    }

    const isLineOpen = this.#line?.onSent(bytes) !== false

    if (!canSendMore || !isLineOpen) {
      this.turns.onFull()
    }
  }

  readonly #onDrain = (): void => {
    this.#isFull = false

    if (this.#line?.onDrain() !== false) {
      this.turns.onDrained()
    }
  }

  // --- receiving

  onData (data: Uint8Array | Uint8ArrayList): void {
    if (this.#life === 'over') {
      return
    }

    this.#reminders.onMessage(data.byteLength)
    this.#decoder.push(data)
    this.#readFrames()
  }

  #readFrames (): void {
    while (this.owner !== 'held' && this.#life !== 'over') {
      const frame = this.#decoder.next()

      if (frame == null) {
        return
      }

      if (this.owner === 'none' && frame.streamId !== 0 && (frame.flags & Flag.syn) !== 0) {
        this.#hold(frame)
      } else {
        this.#onFrame(frame)
      }
    }
  }

  /** @returns whether to keep the data */
  #onDataHeader ({ flags, streamId, length }: FrameHeader): boolean {
    const stream = this.#byId.get(streamId)
    const { firstWindow } = this.#shared.settings
    const isNew = stream == null && (flags & Flag.syn) !== 0
    const isReceiving = isNew || stream?.isReceiving === true
    const window = isNew || length === 0 || stream?.isReceiving !== true ? firstWindow : stream.receiveWindow.credit

    // what a stream that has ended gets may have been allowed before
    if (length > (isReceiving ? window : Math.max(firstWindow, this.#shared.settings.maxWindow))) {
      throw new ReceiveWindowExceededError(`The peer has sent ${length} bytes on stream ${streamId}, and ${window} may be`)
    }

    return isReceiving
  }

  #onPart (streamId: number, bytes: number): void {
    const stream = this.#byId.get(streamId)

    if (stream?.isReceiving === true) {
      const now = performance.now()

      stream.receiveWindow.onData(bytes, now, this.#roundTrip)
      this.#reminders.onFrame(stream, bytes, now)
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

      if (data != null) {
        stream?.receiveWindow.onData(length, performance.now(), this.#roundTrip)
      }
    }

    if (stream == null) {
      return
    }

    // a muxer by itself acknowledges, and refuses by RST. FIN is its owner's
    const isOwners = (flags & Flag.fin) !== 0 || (type === FrameType.data && (length > 0 || (flags & Flag.rst) !== 0))

    if (isOwners && !stream.isAnswered && stream.direction === 'outbound') {
      this.#answered(stream)
    }

    if (type === FrameType.windowUpdate) {
      if (length > 0) {
        this.#line?.onRead()
      }

      // what comes next on the stream may have to wait at the peer
      if ((flags & (Flag.syn | Flag.ack)) !== 0) {
        this.#reminders.onFrame(stream, 0, performance.now())
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
      this.#outbox.add(FrameType.ping, Flag.ack, 0, length)
    } else if (flags === Flag.ack) {
      const now = performance.now()

      this.#roundTrip.add(this.#pings.onAnswer(length, now), now)
      this.#line?.onPong(now)
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
    if (this.#isClient !== (streamId % 2 === 0)) {
      throw new InvalidParametersError('Both endpoints are clients')
    }

    if (this.status !== 'open' || this.#inbound >= this.#shared.settings.maxInboundStreams) {
      this.log('refuse stream %d, %d are open', streamId, this.#inbound)
      this.#outbox.add(FrameType.windowUpdate, Flag.rst, streamId, 0)

      return
    }

    this.#inbound++

    const stream = this.#newStream(streamId, 'inbound')

    this.#openSoon(stream)
    this.onRemoteStream(stream)

    return stream
  }

  /** The peer has something to say to a stream of ours, so it is ready for more */
  #answered (stream: YamuxStream): void {
    stream.isAnswered = true
    this.#gate.answered()
  }

  openWindow (stream: YamuxStream): ReceiveWindow {
    const { firstWindow, maxWindow } = this.#shared.settings
    const budget = this.#budget ??= new WindowBudget(EXTRA_WINDOWS, () => this.#shared.unread.isFull)

    return new ReceiveWindow(performance.now(), budget, () => stream.keepsUp, firstWindow, maxWindow)
  }

  grant (stream: YamuxStream, window: ReceiveWindow): number {
    // what is taken later was not taken at once
    if (!stream.mayGrant) {
      return 0
    }

    const now = performance.now()

    window.onTaken(now, stream.isRead, this.#roundTrip)

    const due = window.due(stream.unread)

    if (due > 0) {
      window.grant(due, now)
    }

    return due
  }

  /** What streams hold that nobody has read, in bytes */
  get unread (): number {
    return this.#unread
  }

  onUnread (change: number): void {
    this.#unread += change

    if (this.#unread > MAX_UNREAD) {
      this.giveUp(new StreamBufferError(`${this.#unread} bytes of ${this.streams.length} streams are unread, and ${MAX_UNREAD} may be`))
    } else if (change !== 0) {
      this.#shared.unread.change(this, change)
    }
  }

  giveUp (err: Error): void {
    this.#fail(err)
  }

  onEnd (stream: YamuxStream): void {
    this.#byId.delete(stream.streamId)
    this.#reminders.onEnd(stream)

    if (stream.direction === 'inbound') {
      this.#inbound--
      return
    }

    this.#outbound--
    this.onFinLeft(stream)

    if (!stream.isAnswered) {
      stream.isAnswered = true
      this.#gate.abandoned()
    }
  }

  /** The FIN of a stream whose protocol was proposed has left, or never will */
  onFinLeft (stream: YamuxStream): void {
    this.#proposing?.delete(stream)

    if (this.#proposing?.size === 0) {
      // an empty one takes 350 bytes
      this.#proposing = undefined
    }
  }

  // --- the owner

  addEventListener<K extends keyof StreamMuxerEvents<YamuxStream>>(type: K, listener: EventHandler<StreamMuxerEvents<YamuxStream>[K]> | null, options?: boolean | AddEventListenerOptions): void
  addEventListener (type: string, listener: EventHandler<Event>, options?: boolean | AddEventListenerOptions): void
  addEventListener (...args: any[]): void {
    super.addEventListener(...args as [any, any, any])

    if (args[0] === 'stream' && this.owner != null && this.owner !== 'owned') {
      // listeners are added in constructors: what they use may not be there yet
      queueMicrotask(() => { this.#own() })
    }
  }

  /**
   * Nobody listens for streams yet: libp2p awaits a connection gater first, and js-yamux gives up the connection if eleven
   * streams come before. The peer waits, and the read buffer of the connection bounds what it has sent.
   */
  #hold (frame: Frame): void {
    this.owner = 'held'
    this.#heldFrame = frame
    this.#tryConnection(() => { this.maConn.pause() })
  }

  #own (): void {
    const isHeld = this.owner === 'held'
    const frame = this.#heldFrame

    this.owner = 'owned'
    this.#heldFrame = undefined

    if (!isHeld || frame == null || this.#life === 'over') {
      return
    }

    try {
      this.#onFrame(frame)
      this.#readFrames()
    } catch (err: any) {
      this.#fail(err)
    }

    this.#tryConnection(() => { this.maConn.resume() })
  }

  #tryConnection (action: () => void): void {
    try {
      action()
    } catch (err) {
      this.log('could not hold back streams that nobody listens for - %e', err)
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

  #sendPing (number: number): void {
    this.#outbox.add(FrameType.ping, Flag.syn, 0, number)

    if (this.#line != null) {
      // it measures what was sent until now
      this.#outbox.sendAll()
      this.#line.onPing(performance.now())
    }
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
      this.#proposing?.forEach(({ proposal }) => { proposal?.allowFin() })
    }, REPLY_GRACE)

    await Promise.all(this.streams.map(async stream => stream.closeWrite()))
    clearTimeout(timer)

    this.status = 'closed'
    this.#pings.stopKeepAlive()
    this.#goAway(GoAwayCode.normalTermination)
  }

  abort (err: Error): void {
    if (this.#life !== 'alive') {
      return
    }

    this.#life = 'aborting'
    this.status = 'closing'
    this.log.error('abort the muxer - %e', err)
    ;[...this.streams].forEach(stream => { stream.abort(err) })
    this.#goAway(err instanceof ProtocolError ? err.reason : GoAwayCode.internalError)
    this.#end()
  }

  /** The connection has ended. Streams without the peer's FIN have lost something */
  onTransportClosed (err: Error | undefined = this.#ended.error): void {
    if (this.#life !== 'over') {
      this.#end()
      ;[...this.streams].forEach(stream => { stream.onConnectionEnd(err) })
    }
  }

  /** Leaves at once: the end of the connection may be next */
  #goAway (reason: number): void {
    this.#outbox.add(FrameType.goAway, 0, 0, reason)
    this.#outbox.sendAll()
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
    this.#outbox.clear()
    this.#pings.end()
    this.#line?.end()
    this.#reminders.stop()
    this.maConn.removeEventListener('drain', this.#onDrain)
    closeBatcher()
  }
}
