import type { StreamMuxerOptions, StreamOptions } from '@libp2p/interface'

export interface YamuxStreamOptions extends StreamOptions {
  /**
   * How much each end may send on a new stream, in bytes, from 256 KiB to 2^32 - 1. Above the default it must be
   * the same at both ends, since yamux cannot say it
   *
   * @default 262_144
   */
  initialStreamWindowSize?: number

  /**
   * How much a peer may be allowed to send on a stream at most, in bytes, from `initialStreamWindowSize` to 2^32 - 1
   *
   * @default 16_777_216
   */
  maxStreamWindowSize?: number
}

/** The options of `@libp2p/yamux` 8, and those marked as new */
export interface YamuxOptions extends StreamMuxerOptions<YamuxStreamOptions> {
  /**
   * Send a ping when the connection opens, and one each `keepAliveInterval`
   *
   * @default true
   */
  enableKeepAlive?: boolean

  /**
   * How often to send a ping, in ms, from 1 on
   *
   * @default 30_000
   */
  keepAliveInterval?: number

  /**
   * Propose the protocol of a stream and let the application write at once, if it passes `negotiateFully: false` or
   * the peer is known to speak the protocol. New
   *
   * @default true
   */
  optimistic?: boolean

  /**
   * How long a peer may take to answer such a proposal, in ms, from 1 on. After that the stream is aborted with a
   * `TimeoutError`. New
   *
   * @default 10_000
   */
  replyTimeout?: number

  /**
   * Send no more ahead than fits the line, measured by pings. Otherwise the kernel takes a megabyte, which no other
   * stream can pass. New
   *
   * @default true
   */
  sendWindow?: boolean

  /**
   * What all connections of the node may hold that nobody has read, in bytes, from 256 KiB on. Above half of it no
   * window grows. Above all of it the connection that holds most is aborted with a `StreamBufferError`. New
   *
   * @default 268_435_456
   */
  maxUnread?: number
}
