/**
 * How long `close()` waits for the peer's FIN after our own was handed to the
 * kernel, in ms.
 *
 * js-libp2p PR #3032 proposed 250 where `@libp2p/tcp` declares 500 and uses it
 * nowhere. A peer that is there answers within a round trip; one that is not
 * must not hold up whoever closes. The socket itself lingers a little longer in
 * the background, see {@link LINGER_IDLE_TIMEOUT}.
 */
export const CLOSE_TIMEOUT = 250

/** Close a socket that neither sends nor receives for this long, in ms: `@libp2p/tcp`'s two minutes. */
export const INACTIVITY_TIMEOUT = 2 * 60_000

/**
 * What is sent in one batch is gathered, unless this many bytes are waiting: then
 * they leave at once. One `writev` of 64 KiB is past the point
 * where its fixed cost matters, and it is Node's default high water mark.
 */
export const FLUSH_BYTES = 64 * 1024

/** What is smaller than this costs less to copy than to hand over as a buffer of its own, in bytes */
export const COPY_BYTES = 4 * 1024

/**
 * Abort a connection whose peer takes nothing of what waits to be sent to it for
 * this long, in ms: as long as a connection may be idle.
 */
export const STALLED_WRITE_TIMEOUT = INACTIVITY_TIMEOUT

/**
 * How much of what a peer sends is kept while nobody listens for it, in bytes. Reading
 * stops at 64 KiB. The last chunk and Node's buffer can make it 256 KiB.
 */
export const MAX_UNREAD_BYTES = 64 * 1024

/**
 * How much is written at a time. Node tells that the kernel took a write only
 * when it took the whole of it, so this is what a slow peer has to read within
 * STALLED_WRITE_TIMEOUT not to look as if it did not read at all. With pieces of
 * 256 KiB a round trip of 1 MiB took a third longer: the peer slept between them.
 */
export const MAX_WRITE_BYTES = 1024 * 1024

/**
 * How much is accepted after `close()` while what was sent before still waits, in
 * bytes: an encrypter may have held it back until the socket drains. That is what its
 * streams have sent until they were told to wait, some windows of a muxer at most.
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

/** The longest delay that Node's timers know, in ms: 24.8 days. Longer timeouts are cut to this. */
export const MAX_TIMEOUT = 2 ** 31 - 1

/**
 * How long libp2p's connection manager gives connections to close when the node
 * stops, in ms. It stops at the same time as the transports.
 */
export const OWNER_CLOSE_TIMEOUT = 500

/**
 * How long after a peer has closed its connection to a listening port no dial to the peer's
 * address leaves from that port, in ms. Until then the peer's NAT may let the dial in because the
 * peer was the first to send, and would refuse anybody else: RFC 5382 has a NAT forget a
 * closed connection after 4 minutes. AutoNAT would take the peer for reachable (libp2p/specs#562).
 */
export const RECENT_PEER_TIMEOUT = 5 * 60_000

/** How many addresses of such peers are remembered */
export const RECENT_PEERS = 4_096

/** How long after a dial of a hole punch was refused the next one follows at first, in ms. Each pause is longer than the one before */
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
