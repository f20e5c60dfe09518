import { isUint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES, CopyRun, newSlab } from '../bytes/copy-run.ts'
import { closeBatcher, flushSoon, isExiting, openBatcher } from '../event-loop/flush-soon.ts'
import { StallWatch } from './liveness.ts'
import type { Batcher } from '../event-loop/flush-soon.ts'
import type { Socket } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * A batch leaves at once when this many bytes of it wait. The fixed cost of a
 * `writev` no longer matters at 64 KiB, which is also Node's default high water mark.
 */
const FLUSH_BYTES = 64 * 1024

/**
 * How much is written at a time, in bytes. Node reports a write only when the kernel
 * has taken all of it. So a slow peer must read this much within STALLED_WRITE_TIMEOUT,
 * or it looks as if it read nothing. With pieces of 256 KiB a round trip of 1 MiB took a
 * third longer: the peer slept between them.
 */
export const MAX_WRITE_BYTES = 1024 * 1024

const slab = newSlab()

export interface Writer {
  /** The peer reads nothing of what waits to be sent */
  onStalledWrite(): void
}

/** Shared by all connections that have nothing waiting, which is most of them most of the time */
const NOTHING: Uint8Array[] = []

/**
 * Gathers a batch, which is all that is sent with no `await` between, and hands it to the
 * socket in one write. A batch costs one system call and, if it fits, one segment: with
 * TCP_NODELAY every write is a segment of its own. A batch does not wait for the end of the
 * tick. That may be many batches away, and the peer could be at work.
 *
 * The first bytes after data of the peer leave at once. The peer may be waiting for them,
 * and wakes up while the rest is still being encrypted. On an idle machine waking up is most
 * of the time that a small message takes.
 *
 * Data that waits is copied, since a caller may reuse its buffer as soon as `send` returns.
 * Other data is written at once, large buffers without a copy. Callers must leave those alone
 * until they are sent, as with `socket.write`.
 */
export class Outgoing implements Batcher {
  readonly #socket: Socket
  readonly #stalledWriteTimeout: number
  readonly #writer: Writer
  #waiting = NOTHING
  #waitingBytes = 0

  /** Whether the peer may be waiting for what is sent next */
  #isReply = false

  #run?: CopyRun

  /** Exists while a batch waits for more data, and ends that wait */
  #gatherTimer?: NodeJS.Timeout

  /** Created at the first write that the kernel does not take whole */
  #stallWatch?: StallWatch

  /** Whether {@link openBatcher} was called: not for a socket that was destroyed before it got a connection */
  #isBatcher = false

  /** `stalledWriteTimeout` is how long the peer may take nothing, in ms; 0 for ever */
  constructor (socket: Socket, stalledWriteTimeout: number, writer: Writer) {
    this.#socket = socket
    this.#stalledWriteTimeout = stalledWriteTimeout
    this.#writer = writer

    if (!socket.closed) {
      this.#isBatcher = true
      openBatcher()
    }
  }

  /** The socket is closed. To be called once */
  onSocketClosed (): void {
    if (this.#isBatcher) {
      closeBatcher()
    }
  }

  /** The peer has sent something */
  onPeerData (): void {
    this.#isReply = true
  }

  /** Let what is written next wait until more is written, but no longer than `ms` */
  gather (ms: number): void {
    this.#gatherTimer = setTimeout(() => { this.flush() }, ms)
  }

  /**
   * Accept all bytes.
   *
   * @returns whether more can be taken now; if not, the socket will emit 'drain'.
   *
   * Node's own answer would be no after every 64 KiB, even if the kernel took them at
   * once. A muxer then makes all of its streams wait for 'drain'. A busy stream gets in
   * first every time, and the others starve for seconds.
   */
  write (data: Uint8Array | Uint8ArrayList): boolean {
    const isFirst = this.#waitingBytes === 0
    const backlog = this.#socket.writableLength
    const canWait = !this.#isReply && !isExiting() && this.#waitingBytes + data.byteLength + backlog < FLUSH_BYTES
    const copyBelow = canWait ? FLUSH_BYTES : COPY_BYTES

    if (isUint8ArrayList(data)) {
      for (const bytes of data) {
        this.#wait(bytes, copyBelow, backlog > 0)
      }
    } else {
      this.#wait(data, copyBelow, backlog > 0)
    }

    if (!canWait) {
      this.flush()
    } else if (!isFirst && this.#gatherTimer != null) {
      this.#endGather()
      flushSoon(this)
    } else if (isFirst && this.#gatherTimer == null) {
      flushSoon(this)
    }

    const { writableLength, writableHighWaterMark } = this.#socket

    // with a mark of 0 a socket that has taken all emits no 'drain'
    return writableLength === 0 || writableLength < writableHighWaterMark
  }

  /** Hand everything that waits to the socket in one write */
  flush (): void {
    this.#endGather()

    if (this.#waitingBytes === 0) {
      return
    }

    this.#endRun()
    const waiting = this.#waiting
    this.drop()
    this.#isReply = false

    if (waiting.length === 1) {
      this.#socket.write(waiting[0])
    } else {
      this.#socket.cork()

      try {
        for (const bytes of waiting) {
          this.#socket.write(bytes)
        }
      } finally {
        this.#socket.uncork()
      }
    }

    if (this.#socket.writableLength > 0) {
      this.#watch()
    }
  }

  /** Hand to the kernel what it takes at once, and forget the rest */
  flushNow (): void {
    if (this.#socket.writable && this.#socket.writableLength === 0) {
      this.flush()
    } else {
      this.drop()
    }
  }

  /** The connection is over: nobody needs to know of a stall any more */
  stopWatching (): void {
    this.#stallWatch?.stop()
  }

  /** Forget everything that waits */
  drop (): void {
    this.#endGather()
    this.#waiting = NOTHING
    this.#waitingBytes = 0
    this.#run = undefined
  }

  #watch (): void {
    if (this.#stalledWriteTimeout > 0) {
      this.#stallWatch ??= new StallWatch(this.#socket, this.#stalledWriteTimeout, () => { this.#writer.onStalledWrite() })
      this.#stallWatch.start()
    }
  }

  #endGather (): void {
    clearTimeout(this.#gatherTimer)
    this.#gatherTimer = undefined
  }

  #wait (bytes: Uint8Array, copyBelow: number, isBacklogged: boolean): void {
    if (bytes.byteLength >= copyBelow) {
      this.#endRun()
      this.#add(bytes)
    } else if (isBacklogged) {
      // it may wait for long, and must not keep the shared slab alive
      this.#endRun()
      // `slice` of a Buffer would be no copy
      this.#add(new Uint8Array(bytes))
    } else {
      this.#copy(bytes)
    }

    this.#waitingBytes += bytes.byteLength
  }

  #add (bytes: Uint8Array): void {
    if (this.#waiting === NOTHING) {
      this.#waiting = [bytes]
    } else {
      this.#waiting.push(bytes)
    }
  }

  #copy (bytes: Uint8Array): void {
    if (this.#run?.append(bytes) !== true) {
      this.#endRun()
      this.#run = new CopyRun(slab, bytes)
    }
  }

  #endRun (): void {
    if (this.#run != null) {
      this.#add(this.#run.bytes)
      this.#run = undefined
    }
  }
}
