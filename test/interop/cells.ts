import type { PeerName } from '../lab/peers/build.ts'

/** `official` is js-libp2p with `@libp2p/tcp`, `ours` the same with this package in its place */
export type JsStack = 'official' | 'ours'
export type PeerKind = PeerName | JsStack
export type Security = 'noise' | 'tls'

/**
 * What a node of ours is told to be optimistic about:
 *
 * - `off`: nothing, `tcp({ optimistic: false })`
 * - `transport`: the encrypter, `tcp()` alone
 * - `all`: muxer and streams too, by both decorators and `negotiateFully: false`
 * - `known`: as `all`, but without `negotiateFully` and to a peer known from identify
 */
export type Optimism = 'off' | 'transport' | 'all' | 'known'

export interface Cell {
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

export const LISTENERS: PeerKind[] = ['official', 'go', 'rust', 'ours']
export const NATIVE: PeerName[] = ['go', 'rust']
export const SECURITIES: Security[] = ['noise', 'tls']

export const OPTIMISM: Optimism[] = ['off', 'transport', 'all', 'known']

/** In the order of the tables: every change beside the one that it builds on */
export const JS_DIALERS: Array<Omit<Cell, 'listener'>> = [
  { dialer: 'official', security: 'noise' },
  ...OPTIMISM.map(optimism => ({ dialer: 'ours', optimism, security: 'noise' } as const)),
  { dialer: 'official', identify: true, security: 'noise' },
  { dialer: 'ours', optimism: 'all', identify: true, security: 'noise' },
  { dialer: 'ours', optimism: 'all', security: 'tls' }
]

/**
 * The whole matrix. What dials one listener stands together, so that what is
 * compared is measured within a minute.
 */
export function allCells (): Cell[] {
  const dialed = LISTENERS.flatMap(listener => JS_DIALERS
    .filter(({ security, identify }) => isNative(listener) ? identify == null : security === 'noise')
    .map((dialer): Cell => ({ ...dialer, listener })))
  const dialing = NATIVE.flatMap(dialer => SECURITIES.map((security): Cell => ({ dialer, listener: 'ours', security })))

  return [...dialed, ...dialing]
}

export function isNative (kind: PeerKind): kind is PeerName {
  return (NATIVE as PeerKind[]).includes(kind)
}

export function nameOf ({ dialer, optimism, identify, listener, listenerOptimism, security, streams, gater, peerStore }: Cell): string {
  const from = `${dialer}${optimism == null ? '' : ` (${optimism})`}${identify === true ? ' with identify' : ''}`
  const to = `${listener}${listenerOptimism == null ? '' : ` (${listenerOptimism})`}`

  return [`${from} -> ${to}`, security, ...(streams == null ? [] : [`${streams} streams`]), ...(gater == null ? [] : [`a gater of ${gater} ms`]), ...(peerStore == null ? [] : [`peer stores of ${peerStore} ms`])].join(', ')
}

/** What a cell is compared with: the official transport, dialing the same listener */
export function isBaselineOf (baseline: Cell, cell: Cell): boolean {
  return isSame(baseline, { ...cell, dialer: 'official', optimism: undefined })
}

export function isSame (a: Cell, b: Cell): boolean {
  return (['dialer', 'listener', 'security', 'optimism', 'identify'] as const).every(key => a[key] === b[key])
}
