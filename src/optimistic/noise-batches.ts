import { setImmediate } from 'node:timers/promises'
import { StreamStateError } from '@libp2p/interface'
import { isUint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES, CopyRun, newSlab } from '../bytes/copy-run.ts'
import { isWaitingForEncrypter } from '../connection/waits-for-encrypter.ts'
import { closeBatcher, flushAtEndOfTurn, flushSoon, isExiting, openBatcher } from '../event-loop/flush-soon.ts'
import { hasMembers } from '../foreign/check.ts'
import type { Batcher } from '../event-loop/flush-soon.ts'
import type { AbortOptions, MessageStream, StreamMessageEvent } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * The most that is encrypted as one message, in bytes. Noise allows four times as much, but
 * the peer can read a message only when all of it has arrived: its first bytes must not wait
 * long for its last ones. TLS records have the same size.
 */
const MESSAGE_BYTES = 16 * 1024

/**
 * A message from this size on is one of many, in bytes: its sender does not wait for the first
 * bytes that come back. Those are a muxer's window updates, one for every message.
 */
const BULK_BYTES = 32 * 1024

/**
 * - `silent`: nothing has come from the peer yet
 * - `heard`: something has, and nothing was sent since
 * - `heard bulk`: the same, and there was a large message in it
 * - `gathering`: what is sent next can wait
 * - `closing`: one of the two ends has begun to close
 * - `last turn`: `close()` was called, and the peer has one turn for an answer
 * - `over`: closed, aborted or reset
 */
type State = 'silent' | 'heard' | 'heard bulk' | 'gathering' | 'closing' | 'last turn' | 'over'

/** Apart from the slab of the sockets: plain data must not share memory with encrypted data */
const slab = newSlab()

/**
 * Makes a stream of Noise encrypt a batch as one message. A batch is all that is sent with no
 * `await` between. Each message costs a cipher, a tag, some lists and as much again at the
 * other end. For the small frames of a muxer that is more than everything else.
 *
 * These leave at once, as messages of their own:
 *
 * - everything until data came from the peer, so that negotiation has the bytes that it
 * always had
 * - the first bytes after that: the peer may be waiting for them, and wakes up while the
 * rest is still being encrypted. After a large message they wait until all that has arrived
 * is read
 * - large buffers, without a copy
 * - everything while the stream waits for 'drain': it is not encrypted now anyway
 * - everything after the peer has closed its end: ours closes soon
 *
 * The rest is copied, since a caller may reuse its buffer as soon as `send` returns. It also
 * leaves before the connection `below` is closed, which is the one that the encrypter was
 * given.
 */
export function coalesceSends (stream: MessageStream, below: MessageStream): void {
  // not again if the encrypter was decorated twice
  if (!Object.hasOwn(stream, 'send') && hasMembers('noiseConnection', stream) && hasMembers('belowNoise', below)) {
    new CoalescedSends(stream, below, isWaitingForEncrypter(below)).attach()
  }
}

const batches = Symbol('batches')

/** Also the connection below one */
interface CoalescingStream extends MessageStream {
  [batches]: CoalescedSends
}

class CoalescedSends implements Batcher {
  readonly #stream: MessageStream
  readonly #send: MessageStream['send']
  readonly #dispatchEvent: MessageStream['dispatchEvent']

  readonly #below: MessageStream
  readonly #closeBelow: MessageStream['close']
  readonly #isWaitedFor: boolean
  #run?: CopyRun
  #state: State = 'silent'

  constructor (stream: MessageStream, below: MessageStream, isWaitedFor: boolean) {
    this.#stream = stream
    this.#below = below
    this.#isWaitedFor = isWaitedFor
    // not bound: that would take memory for each connection
    this.#send = stream.send
    this.#dispatchEvent = stream.dispatchEvent
    this.#closeBelow = below.close
  }

  attach (): void {
    const stream = this.#stream as CoalescingStream
    const below = this.#below as CoalescingStream

    stream[batches] = this
    stream.send = send
    // a listener would serve too, but the first one makes the stream deliver its messages
    stream.dispatchEvent = dispatchEvent

    // the stream closes by closing the connection below
    below[batches] = this
    below.close = close

    if (stream.status === 'open' || stream.status === 'closing') {
      openBatcher()
    } else {
      this.#state = 'over'
    }
  }

  send (data: Uint8Array | Uint8ArrayList): boolean {
    if (this.#state === 'last turn') {
      throw new StreamStateError('Cannot write to a stream that is closing')
    }

    const isLarge = data.byteLength >= COPY_BYTES
    const canWait = !isExiting() && !this.#stream.writableNeedsDrain && this.#stream.status === 'open'

    if (canWait && !isLarge && this.#state === 'gathering') {
      return this.#gather(data, flushSoon)
    }

    if (canWait && !isLarge && this.#state === 'heard bulk') {
      return this.#gather(data, flushAtEndOfTurn)
    }

    this.flush()

    if (this.#state === 'heard' || this.#state === 'heard bulk') {
      this.#state = 'gathering'
    }

    return this.#send.call(this.#stream, data)
  }

  dispatchEvent (event: Event): boolean {
    this.#onEvent(event)

    return this.#dispatchEvent.call(this.#stream, event)
  }

  flush (): void {
    this.#flush()
  }

  async close (options?: AbortOptions): Promise<void> {
    if (this.#flush() && !this.#isWaitedFor) {
      // An in-memory connection takes no input after its `close`. Messages that were sent one by
      // one would have filled it, so the caller would have waited, and read answers meanwhile.
      this.#state = 'last turn'
      await setImmediate()
    }

    if (this.#state !== 'over') {
      this.#state = 'closing'
    }

    await this.#closeBelow.call(this.#below, options)
  }

  /** @returns whether anything waited */
  #flush (): boolean {
    const bytes = this.#take()
    const { status } = this.#stream

    // what was sent before an abort or a reset is lost, as it always is
    if (bytes == null || status === 'aborted' || status === 'reset' || status === 'closed') {
      return false
    }

    if (this.#state === 'heard bulk') {
      this.#state = 'gathering'
    }

    try {
      this.#send.call(this.#stream, bytes)
    } catch (err: any) {
      this.#stream.log.error('failed to send %d bytes - %e', bytes.byteLength, err)
      this.#stream.abort(err)
    }

    return true
  }

  #onEvent (event: Event): void {
    // Noise emits two events for a connection that was reset after an abort
    if (this.#state === 'over') {
      return
    }

    if (event.type === 'close') {
      this.#state = 'over'
      closeBatcher()
    } else if (event.type === 'remoteCloseWrite') {
      this.#state = 'closing'
    } else if (event.type === 'message' && this.#state !== 'closing' && this.#state !== 'last turn') {
      const isLarge = this.#isWaitedFor && (event as StreamMessageEvent).data.byteLength >= BULK_BYTES

      // what comes right behind a large message may be the rest of it
      this.#state = isLarge || this.#state === 'heard bulk' ? 'heard bulk' : 'heard'
    }
  }

  /** Sending may make others send, so nothing is sent before all is copied */
  #gather (data: Uint8Array | Uint8ArrayList, schedule: (batcher: Batcher) => void): boolean {
    let full: Uint8Array | undefined

    // after the first that begins a new run there is room for the others
    for (const bytes of isUint8ArrayList(data) ? data : [data]) {
      full = this.#copy(bytes, schedule) ?? full
    }

    return full == null || this.#send.call(this.#stream, full)
  }

  /** @returns what there is no room behind any more: it is to be sent first */
  #copy (bytes: Uint8Array, schedule: (batcher: Batcher) => void): Uint8Array | undefined {
    if (this.#run != null && this.#run.byteLength + bytes.byteLength <= MESSAGE_BYTES && this.#run.append(bytes)) {
      return
    }

    const full = this.#take()
    this.#run = new CopyRun(slab, bytes)
    schedule(this)

    return full
  }

  /** @returns what waited, which the caller sends */
  #take (): Uint8Array | undefined {
    const bytes = this.#run?.bytes
    this.#run = undefined

    return bytes
  }
}

/** The same functions for all streams: others would take memory for each connection */
function send (this: CoalescingStream, data: Uint8Array | Uint8ArrayList): boolean {
  return this[batches].send(data)
}

function dispatchEvent (this: CoalescingStream, event: Event): boolean {
  return this[batches].dispatchEvent(event)
}

async function close (this: CoalescingStream, options?: AbortOptions): Promise<void> {
  await this[batches].close(options)
}
