import { FairStreams } from './fair-streams.ts'
import { PausedStreams } from './paused-streams.ts'
import type { Line } from './fair-streams.ts'
import type { Traffic } from '../connection/traffic.ts'
import type { Connection } from '@libp2p/interface'

/** Look for streams to share the connection after this many bytes: less than a window of yamux, which a stream may fill before it has to wait */
const SHARE_BYTES = 64 * 1024

export interface LimitedLine extends Line {
  /** Whether less is sent than the socket takes */
  readonly isLimiting: boolean
}

export interface FlowOptions {
  /** Share the connection among its streams */
  fairStreams: boolean

  /** Let the peer wait for the readers of the streams */
  backpressure: boolean

  /** Undefined if nothing is known of it */
  line?: LimitedLine
}

/** What the streams of a connection may send, and what is kept of what they receive */
export class ConnectionFlow implements Traffic {
  readonly #connection: Connection
  readonly #options: FlowOptions
  readonly #paused?: PausedStreams

  /** Exists once a stream has sent much: a stream that sends little costs nothing */
  #fair?: FairStreams
  #sentBytes = 0

  constructor (connection: Connection, options: FlowOptions) {
    this.#connection = connection
    this.#options = options

    if (options.backpressure) {
      this.#paused = new PausedStreams(connection)
    }
  }

  onSent (bytes: number, canSendMore: boolean): void {
    // the answer to the proposal of a stream is sent before the handler gets the stream
    this.#paused?.adopt()
    this.#sentBytes += bytes

    const { fairStreams, line } = this.#options

    // frames of a stream that is not looked for may be as large as its messages
    if (fairStreams && (!canSendMore || line?.isLimiting === true || this.#sentBytes >= SHARE_BYTES)) {
      this.#sentBytes = 0
      this.#fair ??= new FairStreams(this.#connection.streams, line)
      this.#fair.adopt()
    }
  }

  onReceived (bytes: number): void {
    this.#paused?.adopt()
    this.#paused?.onReceived(bytes)
  }
}
