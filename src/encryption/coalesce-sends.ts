import { isUint8ArrayList } from 'uint8arraylist'
import { CopyRun } from '../connection/copy-run.ts'
import type { AbortOptions, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * The most that one Noise message holds, in bytes: 65,535 less a tag of 16.
 *
 * @see https://noiseprotocol.org/noise.html#message-format
 */
const MESSAGE_BYTES = 65_519

/** What is not smaller than this costs less to encrypt as it is than to copy first, in bytes */
const COPY_BYTES = 16 * 1024

/**
 * Makes an encrypted stream encrypt what is sent in one go as one message. Each
 * message costs a cipher, a tag, some lists and as much again at the other end:
 * for the 1 KiB frames of a muxer that is more than all the rest.
 *
 * Some leaves at once, as a message of its own:
 *
 * - everything until the peer was heard: negotiation looks as it always did
 * - the first bytes after the peer was heard: it may be waiting for them, and
 * wakes up while the rest is still being encrypted
 * - large buffers, without a copy
 * - what the stream does not encrypt now anyway, since it waits for 'drain'
 *
 * The rest is copied, since a caller may reuse its buffer as soon as `send`
 * returns, and leaves before anything that awaits something after `send`: a
 * muxer sends its last words and then awaits, and libp2p closes the connection
 * below.
 */
export function coalesceSends (stream: MessageStream): void {
  const send = stream.send.bind(stream)
  const close = stream.close.bind(stream)
  const dispatchEvent = stream.dispatchEvent.bind(stream)
  let run: CopyRun | undefined
  let isHeard = false
  let isReply = false
  let isClosing = false

  const flush = (): void => {
    const bytes = run?.bytes
    run = undefined

    // what was sent before an abort or a reset is lost, as it always is
    if (bytes == null || stream.status !== 'open') {
      return
    }

    try {
      send(bytes)
    } catch (err: any) {
      stream.log.error('failed to send %d bytes - %e', bytes.byteLength, err)
      stream.abort(err)
    }
  }

  const copy = (bytes: Uint8Array): void => {
    if (run != null && run.byteLength + bytes.byteLength <= MESSAGE_BYTES && run.append(bytes)) {
      return
    }

    flush()
    run = new CopyRun(bytes)
    queueMicrotask(flush)
  }

  // a listener would do, but messages wait for the first one
  stream.dispatchEvent = (event: Event) => {
    if (event.type === 'message') {
      isHeard = true
      isReply = true
    }

    return dispatchEvent(event)
  }

  stream.send = (data: Uint8Array | Uint8ArrayList): boolean => {
    const canWait = isHeard &&
      !isReply &&
      !isClosing &&
      !stream.writableNeedsDrain &&
      stream.status === 'open' &&
      data.byteLength < COPY_BYTES

    if (!canWait) {
      isReply = false
      flush()

      return send(data)
    }

    if (isUint8ArrayList(data)) {
      for (const bytes of data) {
        copy(bytes)
      }
    } else {
      copy(data)
    }

    // copying may have made a message full
    return !stream.writableNeedsDrain
  }

  stream.close = async (options?: AbortOptions) => {
    flush()
    isClosing = true

    return close(options)
  }
}
