/**
 * Wait this long for the first message of the handshake, in ms: TLS takes some time to make
 * a certificate. Then send the SYN or the proposal without it.
 */
export const FIRST_WRITE_TIMEOUT = 100

/**
 * For this long after a peer's connection to a listening port has closed, no dial to the peer's
 * address leaves from that port, in ms. The peer's NAT may let such a dial in only because
 * the peer was the first to send, and AutoNAT would take the peer for reachable
 * (libp2p/specs#562). RFC 5382 (REQ-5) has NATs keep a closed connection for at least 4 minutes.
 */
export const RECENT_PEER_TIMEOUT = 5 * 60_000

/** How many addresses of such peers are remembered. A new one replaces the oldest */
export const RECENT_PEERS = 4_096
