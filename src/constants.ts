/**
 * How long `close()` waits for the peer's FIN after our own was handed to the
 * kernel, in ms.
 *
 * js-libp2p PR #3032 proposed 250 where `@libp2p/tcp` declares 500 and uses it
 * nowhere. A live peer answers within a round trip; a dead one must not hold up
 * the caller of `close()`. The socket itself lingers a little longer in the
 * background, see {@link LINGER_IDLE_TIMEOUT}.
 */
export const CLOSE_TIMEOUT = 250

/** Close a socket that neither sends nor receives for this long, in ms: `@libp2p/tcp`'s two minutes. */
export const INACTIVITY_TIMEOUT = 2 * 60_000

/**
 * A batch leaves at once when this many bytes of it wait. The fixed cost of a
 * `writev` no longer matters at 64 KiB, which is also Node's default high water mark.
 */
export const FLUSH_BYTES = 64 * 1024

/** Buffers below this size are copied, in bytes: that costs less than to hand each over by itself */
export const COPY_BYTES = 4 * 1024

/**
 * Abort a connection whose peer reads nothing of what waits to be sent to it for
 * this long, in ms: as long as a connection may be idle.
 */
export const STALLED_WRITE_TIMEOUT = INACTIVITY_TIMEOUT

/**
 * Stop reading when this much of a peer's data waits for a reader, in bytes. With the last
 * chunk and Node's buffer up to 256 KiB are kept.
 */
export const MAX_UNREAD_BYTES = 64 * 1024

/**
 * How much is written at a time, in bytes. Node reports a write only when the kernel
 * has taken all of it. So a slow peer must read this much within STALLED_WRITE_TIMEOUT,
 * or it looks as if it read nothing. With pieces of 256 KiB a round trip of 1 MiB took a
 * third longer: the peer slept between them.
 */
export const MAX_WRITE_BYTES = 1024 * 1024

/**
 * How much `send` accepts after `close()` while earlier data still waits, in bytes. An
 * encrypter may have held that much back until the socket drains: all that its streams sent
 * before they were told to wait, which is some windows of a muxer at most.
 */
export const MAX_HELD_BYTES = 64 * 1024 * 1024

/** A closed socket that still waits for the peer's FIN is destroyed after this long without input, in ms. */
export const LINGER_IDLE_TIMEOUT = 5_000

/** It is destroyed after this long in any case, in ms. */
export const LINGER_TIMEOUT = 30_000

/** At most this many closed sockets wait at a time. A new one replaces the oldest. */
export const MAX_LINGERING = 1_000

/** How long a paused listener waits before it tries its port again, if another process took it, in ms. */
export const RELISTEN_INTERVAL = 1_000

/** How often a listener looks whether a file descriptor is left for the next connection, in ms. */
export const DESCRIPTOR_CHECK_INTERVAL = 1_000

/**
 * A stream, or a connection, whose peer does not answer the proposal of its protocol
 * within this long is aborted, in ms: libp2p's own limit for negotiation in full.
 */
export const REPLY_TIMEOUT = 10_000

/**
 * Wait this long for the first message of the handshake, in ms: TLS takes some time to make
 * a certificate. Then send the SYN or the proposal without it.
 */
export const FIRST_WRITE_TIMEOUT = 100

/** The longest delay of Node's timers, in ms: 24.8 days. Longer timeouts are cut to this. */
export const MAX_TIMEOUT = 2 ** 31 - 1

/**
 * How long libp2p's connection manager gives connections to close when the node
 * stops, in ms. It stops at the same time as the transports.
 */
export const OWNER_CLOSE_TIMEOUT = 500

/**
 * For this long after a peer's connection to a listening port has closed, no dial to the peer's
 * address leaves from that port, in ms. The peer's NAT may let such a dial in only because
 * the peer was the first to send, and AutoNAT would take the peer for reachable
 * (libp2p/specs#562). RFC 5382 (REQ-5) has NATs keep a closed connection for at least 4 minutes.
 */
export const RECENT_PEER_TIMEOUT = 5 * 60_000

/** How many addresses of such peers are remembered. A new one replaces the oldest */
export const RECENT_PEERS = 4_096

/** The first pause between a refused dial of a hole punch and the next dial, in ms. Each further pause is longer */
export const PUNCH_INTERVAL = 100

/**
 * How many streams js-libp2p keeps until the owner of the muxer listens for them
 * (`maxEarlyStreams` of `@libp2p/utils`). At the next one its muxer gives up.
 */
export const MAX_EARLY_STREAMS = 10

/**
 * How many streams may wait for the peer's answer: the limit of the yamux
 * specification. go-libp2p and rust-libp2p queue as many and drop the next one.
 *
 * @see https://github.com/hashicorp/yamux/blob/master/spec.md
 */
export const MAX_UNANSWERED_STREAMS = 256

/**
 * After this long a peer is ready or has given up, in ms: libp2p's own limit for
 * the upgrade of an accepted connection.
 */
export const READY_TIMEOUT = 10_000
