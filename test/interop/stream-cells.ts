import type { Cell, PeerKind } from './cells.ts'

type Dialer = Pick<Cell, 'dialer' | 'optimism'>
type Listener = Pick<Cell, 'listener' | 'listenerOptimism'>

const OURS: Dialer[] = [
  { dialer: 'ours', optimism: 'transport' },
  { dialer: 'ours', optimism: 'all' },
  { dialer: 'ours', optimism: 'known' }
]

const LISTENERS: Listener[] = [
  ...(['official', 'go', 'rust', 'ours'] satisfies PeerKind[]).map(listener => ({ listener })),
  { listener: 'ours', listenerOptimism: 'all' }
]

/** libp2p's muxers take ten streams before their owner listens, and yamux takes 256 before the peer has answered */
const COUNTS = [11, 50, 200, 1_000]

/** In ms: an application that asks a database who may connect */
const GATER = 20

/** In ms: one that is in memory, a fast and a slow disk */
const PEER_STORES = [undefined, 1, 5, 30]

/**
 * Many streams at once, also to a listener that takes its time to be ready, and one that closes its end at once with peer stores
 * that take their time.
 */
export function streamCells (): Cell[] {
  const official: Dialer = { dialer: 'official' }
  const pairs = LISTENERS.flatMap(listener => [official, ...OURS].map(dialer => ({ ...dialer, ...listener })))
  const many = pairs.flatMap(pair => COUNTS.map((streams): Cell => ({ ...pair, security: 'noise', streams })))
  const tls = pairs
    .filter(({ optimism }) => optimism === 'all' || optimism === 'transport')
    .flatMap(pair => [50, 1_000].map((streams): Cell => ({ ...pair, security: 'tls', streams })))
  const gated = pairs
    .filter(isJs)
    .flatMap(pair => COUNTS.map((streams): Cell => ({ ...pair, security: 'noise', streams, gater: GATER })))
  const single = pairs
    .filter(isJs)
    .flatMap(pair => PEER_STORES.map((peerStore): Cell => ({ ...pair, security: 'noise', ...(peerStore == null ? {} : { peerStore }) })))

  return [...many, ...tls, ...gated, ...single]
}

function isJs ({ listener }: Listener): boolean {
  return listener === 'official' || listener === 'ours'
}
