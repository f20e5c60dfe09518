/** Where the remote, which is a plain TCP peer, is killed */
export type RawState = 'dialing' | 'connected' | 'half-closed' | 'closing' | 'lingering'

/** Where the remote, which is a libp2p node, is killed */
export type NodeState = 'noise' | 'muxer' | 'idle' | 'sending' | 'receiving'

export const PROTOCOL = '/test/kill/1.0.0'
