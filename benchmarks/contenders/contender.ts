import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * A bare connection, or a stream over Noise and yamux on one.
 */
export type Level = 'connection' | 'stream'

/**
 * A way to move bytes that is measured against others. Importing a contender is
 * cheap, `open` loads what it needs.
 */
export interface Contender {
  name: string
  level: Level

  /**
   * What it is, in words for a table.
   */
  title: string

  /**
   * Only measured where it is asked for by name.
   */
  extra?: boolean

  /**
   * What it is made of: versions by package.
   */
  versions(): Record<string, string>

  open(): Promise<Peer>
}

export interface Peer {
  /**
   * Listens at each host, at a port that the system chooses, and is given every
   * channel that a dialler opens, where somebody uses them: callbacks take memory.
   *
   * @returns multiaddrs
   */
  listen(hosts: string[], onChannel?: (channel: Channel) => void): Promise<string[]>

  dial(address: string): Promise<Dialled>

  /**
   * How many connections are open in either direction.
   */
  connections(): number

  /**
   * Resolves once all connections that are open now have closed.
   */
  allClosed(): Promise<void>

  close(): Promise<void>
}

export interface Dialled {
  /**
   * A new stream; at the connection level the connection itself each time.
   */
  open(): Promise<Channel>
  close(): Promise<void>
}

/**
 * The least that sockets, connections and streams have in common. The callbacks
 * are assigned, so that a message costs every contender one call.
 */
export interface Channel {
  /**
   * Accepts all of the bytes, which are not written to afterwards.
   *
   * @returns false if the caller should wait for `onDrain`
   */
  send(bytes: Uint8Array): boolean
  onBytes(bytes: Bytes): void
  onDrain(): void

  /**
   * Gives a stream back; a connection stays open for others.
   */
  close(): Promise<void>
}

export type Bytes = Uint8Array | Uint8ArrayList
