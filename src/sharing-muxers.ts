/**
 * The streams of muxers that share their connection fairly themselves, and open no more of them than the peer is ready for.
 * The transport leaves those alone. Key: the array that `connection.streams` is
 */
export const sharingMuxers = new WeakSet<object>()
