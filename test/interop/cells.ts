import type { PeerName } from '../lab/peers/build.ts'

/** `official` is js-libp2p with `@libp2p/tcp`, `ours` the same with this package in its place */
export type PeerKind = PeerName | 'official' | 'ours'
export type Security = 'noise' | 'tls'

/**
 * What a node of ours is told to be optimistic about:
 *
 * - `off`: nothing, `tcp({ optimistic: false })`
 * - `transport`: the encrypter, `tcp()` alone
 * - `all`: muxer and streams too, with `negotiateFully: false`
 * - `known`: as `all`, but without `negotiateFully` and to a peer known from identify
 */
export type Optimism = 'off' | 'transport' | 'all' | 'known'

export interface Dial {
  dialer: PeerKind
  listener: PeerKind
  security: Security

  /** Only where ours dials */
  optimism?: Optimism

  /** The js dialer asks who the listener is, at the same time; go and rust always do */
  identify?: true

  /** Opened in one tick as soon as the connection is there, where they are more than one. Only where js dials */
  streams?: number

  /** Only where ours listens, `transport` by default */
  listenerOptimism?: 'all'

  /** What the connection gater of a js listener takes to admit a connection, in ms; there is none by default */
  gater?: number

  /** What the peer stores of js nodes take to read or to write, in ms; none by default */
  peerStore?: number
}

const NATIVE: PeerName[] = ['go', 'rust']
const LISTENERS: PeerKind[] = ['official', ...NATIVE, 'ours']
const OPTIMISM: Optimism[] = ['off', 'transport', 'all', 'known']

/** Every change beside the one that it builds on */
const JS_DIALERS: Array<Omit<Dial, 'listener'>> = [
  { dialer: 'official', security: 'noise' },
  ...OPTIMISM.map(optimism => ({ dialer: 'ours', optimism, security: 'noise' } as const)),
  { dialer: 'official', identify: true, security: 'noise' },
  { dialer: 'ours', optimism: 'all', identify: true, security: 'noise' },
  { dialer: 'ours', optimism: 'all', security: 'tls' }
]

/** What dials one listener stands together, so that what is compared is measured within a minute */
export const DIALS: Dial[] = [
  ...LISTENERS.flatMap(listener => JS_DIALERS
    .filter(({ security, identify }) => isNative(listener) ? identify == null : security === 'noise')
    .map((dialer): Dial => ({ ...dialer, listener }))),
  ...NATIVE.flatMap(dialer => (['noise', 'tls'] as const).map((security): Dial => ({ dialer, listener: 'ours', security })))
]

const PAIRS = [...LISTENERS.map(listener => ({ listener })), { listener: 'ours' as const, listenerOptimism: 'all' as const }]
  .flatMap(listener => [{ dialer: 'official' as const }, ...OPTIMISM.slice(1).map(optimism => ({ dialer: 'ours' as const, optimism }))]
    .map((dialer): Omit<Dial, 'security'> => ({ ...dialer, ...listener })))
const JS_PAIRS = PAIRS.filter(({ listener }) => !isNative(listener))

/** libp2p's muxers take ten streams before their owner listens, and yamux takes 256 before the peer has answered */
const COUNTS = [11, 50, 200, 1_000]

/**
 * Many streams at once, also to a listener whose gater asks a database for 20 ms, and one that closes its end at once with peer stores in
 * memory, on a fast and on a slow disk
 */
export const STREAMS: Dial[] = [
  ...PAIRS.flatMap(pair => COUNTS.map((streams): Dial => ({ ...pair, security: 'noise', streams }))),
  ...PAIRS.filter(({ optimism }) => optimism === 'all' || optimism === 'transport').flatMap(pair => [50, 1_000].map((streams): Dial => ({ ...pair, security: 'tls', streams }))),
  ...JS_PAIRS.flatMap(pair => COUNTS.map((streams): Dial => ({ ...pair, security: 'noise', streams, gater: 20 }))),
  ...JS_PAIRS.flatMap(pair => [undefined, 1, 5, 30].map((peerStore): Dial => ({ ...pair, security: 'noise', ...(peerStore == null ? {} : { peerStore }) })))
]

export function isNative (kind: PeerKind): kind is PeerName {
  return kind === 'go' || kind === 'rust'
}

export function nameOf ({ dialer, optimism, identify, listener, listenerOptimism, security, streams, gater, peerStore }: Dial): string {
  const from = `${dialer}${optimism == null ? '' : ` (${optimism})`}${identify === true ? ' with identify' : ''}`
  const to = `${listener}${listenerOptimism == null ? '' : ` (${listenerOptimism})`}`

  return [`${from} -> ${to}`, security, ...(streams == null ? [] : [`${streams} streams`]), ...(gater == null ? [] : [`a gater of ${gater} ms`]), ...(peerStore == null ? [] : [`peer stores of ${peerStore} ms`])].join(', ')
}
