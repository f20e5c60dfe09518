import { hasMembers } from '../../foreign/check.ts'
import type { Stream } from '@libp2p/interface'

/**
 * - `negotiating`: FIN came while libp2p may still be at work on the protocol, or waits to answer
 * - `kept`: the protocol is agreed on, and nobody listens to the stream yet
 * - `told`: the stream has its FIN
 */
type KeptFinState = 'negotiating' | 'kept' | 'told'

/** What is used of AbstractStream of `@libp2p/utils`. Not all of it is part of the interface */
interface ListenableStream extends Stream {
  onRemoteCloseWrite(): void
  onTransportClosed(err?: Error): void
  listenerCount(type: string): number
}

/** A listener of one of these reads the stream, or waits for its end */
const READING = ['message', 'remoteCloseWrite', 'end']

/**
 * Keeps the peer's FIN until somebody listens to the stream. libp2p attaches the handler of a
 * protocol only after its peer store has answered. AbstractStream tells of FIN once, so that a
 * handler that reads with `for await`, and begins after that, never ends.
 *
 * FIN is kept as long as the stream lives, unless somebody reads or closes it.
 */
export function keepFin (stream: Stream): void {
  if (!isListenable(stream)) {
    return
  }

  const { onRemoteCloseWrite } = stream
  // those of the muxer
  const closeListeners = stream.listenerCount('close')

  stream.onRemoteCloseWrite = () => {
    // not deleted: V8 would make a dictionary of the stream
    stream.onRemoteCloseWrite = onRemoteCloseWrite

    if (stream.protocol !== '' && isHeard(stream)) {
      stream.onRemoteCloseWrite()
    } else {
      new KeptFin(stream, closeListeners).keep()
    }
  }
}

/**
 * A FIN that came before somebody listened. What it replaces stays replaced, as somebody else may
 * have built on it; once the stream has its FIN it only hands on.
 */
class KeptFin {
  readonly #stream: ListenableStream

  /** How many listeners of 'close' the stream had before its owner had it */
  readonly #closeListeners: number
  #state: KeptFinState = 'negotiating'

  /** The end of the connection comes behind FIN, also if it is kept */
  #isTransportClosed = false

  constructor (stream: ListenableStream, closeListeners: number) {
    this.#stream = stream
    this.#closeListeners = closeListeners
  }

  keep (): void {
    const stream = this.#stream
    const addEventListener: (...args: any[]) => void = stream.addEventListener.bind(stream)
    const close = stream.close.bind(stream)
    const onTransportClosed = stream.onTransportClosed.bind(stream)

    stream.addEventListener = (...args: any[]) => {
      addEventListener(...args)

      if (this.#state === 'kept' && (READING.includes(args[0]) || (args[0] === 'close' && this.#isTransportClosed))) {
        // AbstractStream delivers the data that waits in a microtask
        queueMicrotask(() => { this.#tell() })
      }
    }
    stream.close = options => {
      this.#tell()

      return close(options)
    }
    stream.onTransportClosed = err => {
      if (err == null && (this.#state === 'negotiating' || (this.#state === 'kept' && !this.#isEndHeard))) {
        this.#isTransportClosed = true
      } else {
        this.#tell()
        onTransportClosed(err)
      }
    }

    // what has come suffices to agree on the protocol in this turn, or never will
    setImmediate(() => { this.#onTurn() })
  }

  /** Whether the handler listens to the end of the stream */
  get #isEndHeard (): boolean {
    return this.#stream.listenerCount('close') > this.#closeListeners
  }

  #onTurn (): void {
    const stream = this.#stream

    if (this.#state === 'negotiating' && stream.protocol === '' && stream.status === 'open' && stream.writableNeedsDrain) {
      // libp2p waits until it can write its answer
      stream.addEventListener('drain', () => { setImmediate(() => { this.#onTurn() }) }, { once: true })
    } else if (this.#state === 'negotiating' && stream.protocol !== '' && !isHeard(stream) && !(this.#isTransportClosed && this.#isEndHeard)) {
      this.#state = 'kept'
    } else {
      this.#tell()
    }
  }

  #tell (): void {
    if (this.#state === 'told') {
      return
    }

    const stream = this.#stream

    this.#state = 'told'
    stream.onRemoteCloseWrite()

    if (this.#isTransportClosed) {
      stream.onTransportClosed()
    }
  }
}

/** A handler that has closed its end had the stream, also if it reads no longer */
function isHeard (stream: ListenableStream): boolean {
  return stream.writeStatus !== 'writable' || READING.some(type => stream.listenerCount(type) > 0)
}

function isListenable (stream: Stream): stream is ListenableStream {
  return hasMembers('listeningStream', stream)
}
