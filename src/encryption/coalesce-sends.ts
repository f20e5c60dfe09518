import { setImmediate } from 'node:timers/promises'
import { StreamStateError } from '@libp2p/interface'
import { isUint8ArrayList } from 'uint8arraylist'
import { CopyRun, newSlab } from '../bytes/copy-run.ts'
import { SocketConnection } from '../connection/socket-connection.ts'
import { closeBatcher, flushSoon, isExiting, openBatcher } from '../event-loop/flush-soon.ts'
import type { AbortOptions, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * The most that is encrypted as one message, in bytes. Noise has room for four
 * times as much, but the peer can read a message only when all of it is there:
 * what comes first must not wait long for what comes last. TLS records are as
 * long.
 */
const MESSAGE_BYTES = 16 * 1024

/** What is not smaller than this costs less to encrypt as it is than to copy first, in bytes */
const COPY_BYTES = 4 * 1024

/**
 * - `silent`: the peer was not heard yet
 * - `heard`: it was, and nothing was sent since
 * - `gathering`: what is sent next can wait
 * - `closing`: one of the two ends has begun to
 * - `last turn`: `close()` was called, and the peer has one turn for an answer
 * - `over`: closed, aborted or reset
 */
type State = 'silent' | 'heard' | 'gathering' | 'closing' | 'last turn' | 'over'

/** What is not encrypted yet does not share memory with what is on its way to the socket */
const slab = newSlab()

/**
 * Makes a stream that Noise has encrypted encrypt what is sent in one batch as one
 * message. Each message costs a cipher, a tag, some lists and as much again at
 * the other end: for the small frames of a muxer that is more than all the rest.
 *
 * Some leaves at once, as a message of its own:
 *
 * - everything until the peer was heard: negotiation looks as it always did
 * - the first bytes after the peer was heard: it may be waiting for them, and
 * wakes up while the rest is still being encrypted
 * - large buffers, without a copy
 * - what the stream does not encrypt now anyway, since it waits for 'drain'
 * - what is sent after the peer has closed its end: ours closes soon
 *
 * The rest is copied, since a caller may reuse its buffer as soon as `send`
 * returns, and leaves before the connection below is closed, and before anything
 * that is awaited after `send`. The connection `below` is the one that the
 * encrypter was given.
 */
export function coalesceSends (stream: MessageStream, below: MessageStream): void {
  // decorated twice
  if (Object.hasOwn(stream, 'send')) {
    return
  }

  const send = stream.send.bind(stream)
  const dispatchEvent = stream.dispatchEvent.bind(stream)
  const closeBelow = below.close.bind(below)
  let run: CopyRun | undefined
  let state: State = 'silent'

  /** @returns what waited, which the caller sends */
  const take = (): Uint8Array | undefined => {
    const bytes = run?.bytes
    run = undefined

    return bytes
  }

  /** @returns whether anything waited */
  const flush = (): boolean => {
    const bytes = take()

    // what was sent before an abort or a reset is lost, as it always is
    if (bytes == null || stream.status === 'aborted' || stream.status === 'reset' || stream.status === 'closed') {
      return false
    }

    try {
      send(bytes)
    } catch (err: any) {
      stream.log.error('failed to send %d bytes - %e', bytes.byteLength, err)
      stream.abort(err)
    }

    return true
  }

  /** @returns what there is no room behind any more: it is to be sent first */
  const copy = (bytes: Uint8Array): Uint8Array | undefined => {
    if (run != null && run.byteLength + bytes.byteLength <= MESSAGE_BYTES && run.append(bytes)) {
      return
    }

    const full = take()
    run = new CopyRun(slab, bytes)
    flushSoon({ flush })

    return full
  }

  /** Sending may make others send, so nothing is sent before all is copied */
  const copyAll = (list: Uint8ArrayList): Uint8Array | undefined => {
    let full: Uint8Array | undefined

    // after the first that begins a new run there is room for the others
    for (const bytes of list) {
      full = copy(bytes) ?? full
    }

    return full
  }

  stream.send = (data: Uint8Array | Uint8ArrayList): boolean => {
    if (state === 'last turn') {
      throw new StreamStateError('Cannot write to a stream that is closing')
    }

    const canWait = state === 'gathering' &&
      !isExiting() &&
      !stream.writableNeedsDrain &&
      stream.status === 'open' &&
      data.byteLength < COPY_BYTES

    if (!canWait) {
      state = state === 'heard' ? 'gathering' : state
      flush()

      return send(data)
    }

    const full = isUint8ArrayList(data) ? copyAll(data) : copy(data)

    return full == null || send(full)
  }

  // a listener would do, but messages wait for the first one
  stream.dispatchEvent = (event: Event) => {
    if (event.type === 'close' && state !== 'over') {
      // Noise tells twice of a connection that was reset after an abort
      state = 'over'
      closeBatcher()
    } else if (event.type === 'remoteCloseWrite' && state !== 'over') {
      state = 'closing'
    } else if (event.type === 'message' && (state === 'silent' || state === 'gathering')) {
      state = 'heard'
    }

    return dispatchEvent(event)
  }

  if (stream.status === 'open' || stream.status === 'closing') {
    openBatcher()
  } else {
    state = 'over'
  }

  // the stream closes by closing the connection below
  below.close = async (options?: AbortOptions) => {
    const hasWaited = flush()

    if (hasWaited && !(below instanceof SocketConnection)) {
      // An in-memory connection takes no input from its `close` on. Sent one by one, the messages
      // would have filled it, and the caller would have waited, and read answers meanwhile.
      state = 'last turn'
      await setImmediate()
    }

    if (state !== 'over') {
      state = 'closing'
    }

    return closeBelow(options)
  }
}
