// without settings.ts: a bundle for browsers has this, and no node:net

/**
 * How long `close()` waits for the peer's FIN after our own was handed to the
 * kernel, in ms.
 *
 * js-libp2p PR #3032 proposed 250 where `@libp2p/tcp` declares 500 and uses it
 * nowhere. A live peer answers within a round trip; a dead one must not hold up
 * the caller of `close()`. The socket itself lingers a little longer in the
 * background, see `LingeringSockets`.
 */
export const CLOSE_TIMEOUT = 250
