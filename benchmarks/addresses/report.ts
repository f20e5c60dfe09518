import type { Environment } from '../../test/lab/report/environment.ts'

/** Programs of other languages, which dial themselves with the options of their libraries at their defaults */
export type ProgramStack = 'go' | 'rust'

export type StackName = 'official' | 'transport' | 'ours' | ProgramStack

/**
 * What is dead about an address
 *
 * - `silent`: packets to it vanish
 * - `refused`: nobody listens
 * - `unreachable`: a router answers ICMP host unreachable
 * - `no-route`: this host has no route to it, by IPv4
 * - `no-ipv6`: ... by IPv6
 * - `reset`: accepts, and resets
 * - `mute`: accepts, and never speaks
 * - `stranger`: a libp2p node with another peer id
 */
export const DEAD = ['silent', 'refused', 'unreachable', 'no-route', 'no-ipv6', 'reset', 'mute', 'stranger'] as const

export type Dead = typeof DEAD[number]

/** A dial of a peer whose live address stands behind dead ones */
export interface DialRow {
  stack: StackName
  dead: Dead

  /** How many dead addresses come first */
  count: number
  dials: Dialed[]
}

export interface Dialed {
  /** Until the first echoed byte, in ms. Undefined if the dial failed */
  ms?: number

  /** How long the dial took, also if it failed, in ms */
  lasted: number
  error?: string

  /** How many sockets the dial opened */
  sockets: number
}

/** A dial of the peer by the same node after its first connection was closed */
export interface AgainRow {
  stack: StackName
  count: number
  dials: Dialed[]
}

export interface CrawlRow {
  stack: StackName

  /** When each reachable peer was connected, in ms since the first dial */
  connected: number[]

  /** How long the crawl lasted, in ms. It ends when every reachable peer is connected, or after a limit */
  lasted: number

  /** How many peers have a live address */
  reachable: number

  /** The most sockets that were connecting or open at a time */
  sockets: number

  /** As the kernel counts them, those that were sent again too */
  syns: number

  /** Of the dialer's process, in ms */
  cpu: number
}

/** A batch of dials of a peer whose first address is live, per dial */
export interface CostRow {
  isRaced: boolean

  /** Of the dialer's process, in ms */
  cpu: number
  ms: number
  sockets: number
}

export interface AddressesReport extends Environment {
  benchmark: 'addresses'
  link: string
  roundTrip: number
  rounds: number
  dials: DialRow[]
  again: AgainRow[]
  cost: CostRow[]
  crawl: { peers: number, addresses: number, dead: number, limit: number, seed: number, rows: CrawlRow[] }
}
