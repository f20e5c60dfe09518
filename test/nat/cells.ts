import type { NatKind } from './lab/nat.ts'
import type { Side } from './lab/network.ts'
import type { PeerName } from '../lab/peers/build.ts'

/**
 * A node of js-libp2p:
 *
 * - `js`: this package, decorated
 * - `plain`: this package, `tcp()` and `holePunching()` alone
 * - `official`: `@libp2p/tcp`, whose dials leave from any port
 */
export type JsName = 'js' | 'plain' | 'official'
export type PunchPeer = PeerName | JsName
export type Security = 'noise' | 'tls'

export interface PunchCell {
  /** Dials over the relay */
  a: PunchPeer

  /** Is dialed, and begins the punch */
  b: PunchPeer
  relay: PeerName | 'js'
  security: Security
  nats: Record<Side, NatKind>

  /** One way between the two sides, in ms */
  delay: number

  /** How often, in a whole run */
  runs: number

  /** How many of these have to succeed: all, none, or whatever happens */
  expected: 'all' | 'none' | 'any'
}

export type Group = 'punches' | 'variants' | 'reversal' | 'hard' | 'control'

const NOISE: Omit<PunchCell, 'a' | 'b'> = {
  relay: 'go',
  security: 'noise',
  nats: { a: 'masquerade', b: 'masquerade' },
  delay: 0,
  runs: 5,
  expected: 'all'
}

/** With js at one end at least, and what go does among its own in the same run */
const PAIRS: Array<[PunchPeer, PunchPeer]> = [['js', 'js'], ['js', 'go'], ['go', 'js'], ['js', 'rust'], ['rust', 'js']]
const AMONG_OTHERS: Array<[PunchPeer, PunchPeer]> = [['go', 'go'], ['rust', 'rust'], ['go', 'rust'], ['rust', 'go']]
const PLAIN: Array<[PunchPeer, PunchPeer]> = PAIRS.map(([a, b]) => [toPlain(a), toPlain(b)])

/** Cells of one group stand together, and what is compared is in one group. */
export const GROUPS: Record<Group, PunchCell[]> = {
  punches: [
    ...PAIRS.map(([a, b]): PunchCell => ({ ...NOISE, a, b, runs: 50 })),
    { ...NOISE, a: 'go', b: 'go', runs: 50 },
    ...AMONG_OTHERS.slice(1).map(([a, b]): PunchCell => ({ ...NOISE, a, b, expected: 'any' }))
  ],
  variants: [
    ...(['js', 'rust'] as const).flatMap(relay => [...PAIRS, ...AMONG_OTHERS].map(([a, b]): PunchCell => ({ ...NOISE, a, b, relay, expected: expectedOf(a, b) }))),
    ...[...PAIRS, ...AMONG_OTHERS].map(([a, b]): PunchCell => ({ ...NOISE, a, b, delay: 40, expected: expectedOf(a, b) })),
    ...PLAIN.map(([a, b]): PunchCell => ({ ...NOISE, a, b })),
    ...[...PAIRS, ...AMONG_OTHERS].map(([a, b]): PunchCell => ({ ...NOISE, a, b, security: 'tls', expected: expectedOf(a, b) })),
    ...PLAIN.map(([a, b]): PunchCell => ({ ...NOISE, a, b, security: 'tls' }))
  ],
  reversal: PAIRS.flatMap(([a, b]): PunchCell[] => [
    { ...NOISE, a, b, nats: { a: 'none', b: 'masquerade' } },
    { ...NOISE, a, b, nats: { a: 'masquerade', b: 'none' } }
  ]),
  hard: [['js', 'js'] as const, ['go', 'go'] as const].flatMap(([a, b]): PunchCell[] => [
    { ...NOISE, a, b, nats: { a: 'random', b: 'random' }, runs: 10, expected: 'none' },
    { ...NOISE, a, b, nats: { a: 'reset', b: 'reset' }, runs: 10, expected: 'any' },
    { ...NOISE, a, b, nats: { a: 'reset', b: 'reset' }, delay: 40, runs: 10, expected: 'any' }
  ]),
  control: [
    { ...NOISE, a: 'official', b: 'official', expected: 'none' },
    { ...NOISE, a: 'official', b: 'go', expected: 'none' },
    { ...NOISE, a: 'go', b: 'official', expected: 'none' }
  ]
}

export function nameOf ({ a, b, relay, security, nats, delay }: PunchCell): string {
  return `${a} to ${b}, ${relay} relay, ${security}, ${nats.a === nats.b ? nats.a : `${nats.a} and ${nats.b}`}, ${delay} ms`
}

/** Of what has no js in it nothing is promised */
function expectedOf (a: PunchPeer, b: PunchPeer): PunchCell['expected'] {
  return [a, b].some(isJs) ? 'all' : 'any'
}

function toPlain (peer: PunchPeer): PunchPeer {
  return peer === 'js' ? 'plain' : peer
}

export function isJs (peer: PunchPeer): peer is JsName {
  return peer === 'js' || peer === 'plain' || peer === 'official'
}
