/*
 * What we presume of libp2p and of the protocols below it: names, defaults and limits that no
 * public interface tells. Each names its source. A peer, or a node's configuration, may have
 * other limits: nothing breaks then, a stream or a close only takes longer.
 */

/**
 * Both sides of a negotiation send this first
 *
 * @see https://github.com/multiformats/multistream-select
 */
export const MULTISTREAM = '/multistream/1.0.0'

/** The most that one message of multistream-select has, newline included, in bytes (`@libp2p/multistream-select`, constants.ts) */
export const MAX_MULTISTREAM_BYTES = 1024

/** @see https://github.com/libp2p/specs/tree/master/noise */
export const NOISE = '/noise'

/** @see https://github.com/libp2p/specs/blob/master/tls/tls.md */
export const TLS = '/tls/1.0.0'

/** @see https://github.com/hashicorp/yamux/blob/master/spec.md */
export const YAMUX = '/yamux/1.0.0'

/**
 * Has no handshake that could be sent early, and none that would authenticate the peer
 *
 * @see https://github.com/libp2p/specs/blob/master/plaintext/README.md
 */
export const PLAINTEXT = '/plaintext/2.0.0'

/** How many streams a connection may have open for a protocol, if its handler sets no limit (`libp2p`, registrar.ts) */
export const DEFAULT_MAX_INBOUND_STREAMS = 32
export const DEFAULT_MAX_OUTBOUND_STREAMS = 64

/** How long a peer may take to agree on a protocol, in ms (`libp2p`, connection-manager/constants.defaults.ts) */
export const PROTOCOL_NEGOTIATION_TIMEOUT = 10_000

/** How long the upgrade of an accepted connection may take, in ms (`libp2p`, connection-manager/constants.defaults.ts) */
export const INBOUND_UPGRADE_TIMEOUT = 10_000

/**
 * How long the connection manager gives all connections to close when the node stops, in ms. It
 * stops at the same time as the transports (`libp2p`, connection-manager/index.ts)
 */
export const OWNER_CLOSE_TIMEOUT = 500

/**
 * How many streams a muxer keeps until its owner listens for them: the default of
 * `maxEarlyStreams`. At the next one it gives up the connection (`@libp2p/utils`, abstract-stream-muxer.ts)
 */
export const MAX_EARLY_STREAMS = 10

/**
 * How many streams may wait for the peer's answer. go-libp2p and rust-libp2p queue as many, and
 * drop the next one
 *
 * @see https://github.com/hashicorp/yamux/blob/master/spec.md
 */
export const MAX_UNANSWERED_STREAMS = 256
