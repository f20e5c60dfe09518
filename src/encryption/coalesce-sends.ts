import { setImmediate } from 'node:timers/promises'
import { StreamStateError } from '@libp2p/interface'
import { isUint8ArrayList } from 'uint8arraylist'
import { CopyRun, newSlab } from '../bytes/copy-run.ts'
import { SocketConnection } from '../connection/socket-connection.ts'
import { closeBatcher, flushSoon, isExiting, openBatcher } from '../event-loop/flush-soon.ts'
import type { Batcher } from '../event-loop/flush-soon.ts'
import type { MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * The most that is encrypted as one message, in bytes. Noise allows four times as much, but
 * the peer can read a message only when all of it has arrived: its first bytes must not wait
 * long for its last ones. TLS records have the same size.
 */
const MESSAGE_BYTES = 16 * 1024

/** Buffers from this size on are encrypted without a copy, in bytes: that costs less */
const COPY_BYTES = 4 * 1024

/**
 * - `silent`: nothing has come from the peer yet
 * - `heard`: something has, and nothing was sent since
 * - `gathering`: what is sent next can wait
 * - `closing`: one of the two ends has begun to close
 * - `last turn`: `close()` was called, and the peer has one turn for an answer
 * - `over`: closed, aborted or reset
 */
type State = 'silent' | 'heard' | 'gathering' | 'closing' | 'last turn' | 'over'

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
 * rest is still being encrypted
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
  if (!Object.hasOwn(stream, 'send')) {
    new CoalescedSends(stream).attach(below)
  }
}

class CoalescedSends implements Batcher {
  readonly #stream: MessageStream
  readonly #send: MessageStream['send']
  #run?: CopyRun
  #state: State = 'silent'

  constructor (stream: MessageStream) {
    this.#stream = stream
    this.#send = stream.send.bind(stream)
  }

  attach (below: MessageStream): void {
    const stream = this.#stream
    const dispatchEvent = stream.dispatchEvent.bind(stream)
    const closeBelow = below.close.bind(below)

    stream.send = data => this.send(data)

    // a listener would serve too, but the first one makes the stream deliver its messages
    stream.dispatchEvent = (event: Event) => {
      this.#onEvent(event.type)

      return dispatchEvent(event)
    }

    // the stream closes by closing the connection below
    below.close = async options => {
      if (this.#flush() && !(below instanceof SocketConnection)) {
        // An in-memory connection takes no input after its `close`. Messages that were sent one by
        // one would have filled it, so the caller would have waited, and read answers meanwhile.
        this.#state = 'last turn'
        await setImmediate()
      }

      if (this.#state !== 'over') {
        this.#state = 'closing'
      }

      return closeBelow(options)
    }

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

    const canWait = this.#state === 'gathering' &&
      !isExiting() &&
      !this.#stream.writableNeedsDrain &&
      this.#stream.status === 'open' &&
      data.byteLength < COPY_BYTES

    if (!canWait) {
      this.#state = this.#state === 'heard' ? 'gathering' : this.#state
      this.flush()

      return this.#send(data)
    }

    const full = isUint8ArrayList(data) ? this.#copyAll(data) : this.#copy(data)

    return full == null || this.#send(full)
  }

  flush (): void {
    this.#flush()
  }

  /** @returns whether anything waited */
  #flush (): boolean {
    const bytes = this.#take()
    const { status } = this.#stream

    // what was sent before an abort or a reset is lost, as it always is
    if (bytes == null || status === 'aborted' || status === 'reset' || status === 'closed') {
      return false
    }

    try {
      this.#send(bytes)
    } catch (err: any) {
      this.#stream.log.error('failed to send %d bytes - %e', bytes.byteLength, err)
      this.#stream.abort(err)
    }

    return true
  }

  #onEvent (type: string): void {
    // Noise emits two events for a connection that was reset after an abort
    if (this.#state === 'over') {
      return
    }

    if (type === 'close') {
      this.#state = 'over'
      closeBatcher()
    } else if (type === 'remoteCloseWrite') {
      this.#state = 'closing'
    } else if (type === 'message' && (this.#state === 'silent' || this.#state === 'gathering')) {
      this.#state = 'heard'
    }
  }

  /** Sending may make others send, so nothing is sent before all is copied */
  #copyAll (list: Uint8ArrayList): Uint8Array | undefined {
    let full: Uint8Array | undefined

    // once one of them has begun a new run, there is room for the others
    for (const bytes of list) {
      full = this.#copy(bytes) ?? full
    }

    return full
  }

  /** @returns the full run that the bytes did not fit behind: send it first */
  #copy (bytes: Uint8Array): Uint8Array | undefined {
    if (this.#run != null && this.#run.byteLength + bytes.byteLength <= MESSAGE_BYTES && this.#run.append(bytes)) {
      return
    }

    const full = this.#take()
    this.#run = new CopyRun(slab, bytes)
    flushSoon(this)

    return full
  }

  /** @returns what waited, which the caller sends */
  #take (): Uint8Array | undefined {
    const bytes = this.#run?.bytes
    this.#run = undefined

    return bytes
  }
}
