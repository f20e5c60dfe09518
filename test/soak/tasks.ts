import type { Memory } from '../lab/measure/memory.ts'

export type StackName = 'ours' | 'official' | 'go'

/** `query`: 1 KiB there and back on a new stream; `block`: 64 KiB to 4 MiB; `dial`: an echo by a new host in Go, which the nodes answer */
export const KINDS = ['query', 'block', 'dial'] as const
export type Kind = typeof KINDS[number]

/** A node that others can ask */
export interface Peer {
  name: string
  stack: StackName
  address: string
}

/** What is over, with the clock of `Date.now()` */
export interface Ended {
  from: string
  to: string
  began: number
  ended: number
}

export interface Failure extends Ended {
  kind: Kind

  /** The stacks, such as `ours > go` */
  pair: string
  error: string

  /** Bytes that are missing or wrong though the stream ended as if all were well */
  lost: number
}

/** The end of a connection, as `from` saw it */
export interface Over {
  from: string
  to: string
  at: number
  error?: string
}

/** What a worker tells unasked */
export type Told = { failure: Failure } | { hungUp: Ended } | { over: Over } | { uncaught: string }

/** Since the process began */
export interface Counts {
  /** Streams that ended well, and bytes of content, by kind and pair */
  done: Record<string, { streams: number, bytes: number }>
  published: number
  delivered: number

  /** Messages of gossip that are not what was published */
  corrupt: number
}

/** What one process holds and has done */
export interface Sample extends Counts, Memory {
  /** ms of the processor */
  cpu: number

  /** The longest that the event loop was away since the last sample, in ms */
  away: number
  nodes: number
  connections: number
  streams: number

  /** As `process.getActiveResourcesInfo()` names them */
  resources: Record<string, number>
}

export interface Rates {
  /** A second, of all nodes of the process */
  query: number
  block: number
  gossip: number
}

export type SoakTasks = {
  /** @returns its address */
  startNode(name: string, port: number): Promise<string>
  stopNode(name: string): Promise<void>

  /** All of the fleet, from now on */
  know(peers: Peer[]): void

  /** From now on */
  load(rates: Rates): void
  sample(): Promise<Sample>
}
