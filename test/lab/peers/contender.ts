import type { Uint8ArrayList } from 'uint8arraylist'

/** A bare connection, or a stream over an encrypter and a muxer on one. */
export type Level = 'connection' | 'stream'

export type SuiteName = 'connect' | 'nagle' | 'throughput' | 'scale'

/** A way to move bytes that is measured against others. Importing a contender is cheap, `open` loads what it needs. */
export interface Contender {
  /** The same at both levels, where it is at both. */
  name: string
  level: Level
  title: string
  suites: SuiteName[]

  /** Measured only where it is asked for by name. */
  onlyIfNamed?: boolean

  /** What it is made of: versions by package. */
  versions(): Record<string, string>

  /**
   * Installs or builds what is not there yet.
   *
   * @param onProgress - is told before something slow begins
   * @throws {Error} if this machine cannot
   */
  prepare?(onProgress: (message: string) => void): Promise<void>
  open(options?: OpenOptions): Promise<Peer | Program>
}

export interface OpenOptions {
  /**
   * TCP_NODELAY of what is dialed.
   *
   * @default true
   */
  noDelay?: boolean

  /** Tells the steps of a dial apart, see `Dialed`. */
  steps?: boolean
}

interface Listening {
  /**
   * Listens at each host, at a port that the system chooses, and is given every channel that a dialer opens, where somebody uses them:
   * callbacks take memory.
   *
   * @returns multiaddrs
   */
  listen(hosts: string[], onChannel?: (channel: Channel) => void): Promise<string[]>
  close(): Promise<void>
}

export interface Peer extends Listening {
  dial(address: string, signal?: AbortSignal): Promise<Dialed>

  /** How many connections are open in either direction. */
  connections(): number
}

/** A peer that is a program in another language. It echoes what it is sent, and it times its dials itself. */
export interface Program extends Listening {
  /** Dials, has one byte echoed, and closes. */
  firstByte(address: string): Promise<FirstByte>
}

export interface Dialed {
  /** The time that each step of the dial took, in ms, where `open` was asked for it. A bare connection has no handshakes. */
  steps?: { connect: number, security: number, muxer: number }

  /** A new stream; at the connection level the connection itself each time. */
  open(signal?: AbortSignal): Promise<Channel>
  close(signal?: AbortSignal): Promise<void>
}

/**
 * The least that sockets, connections and streams have in common. The callbacks are assigned, so that a message costs every contender one
 * call.
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

  /** Has it call back when it closes: a listener costs something. */
  whenClosed(callback: (err?: Error) => void): void

  /** Gives a stream back; a connection stays open for others. */
  close(): Promise<void>
}

export type Bytes = Uint8Array | Uint8ArrayList

/**
 * Milliseconds that each step of a connection took. Steps that a stack does not have take 0; one that cannot be told apart from its
 * neighbours is undefined.
 */
export interface FirstByte {
  /** From the call to an open TCP connection. */
  connect?: number

  /** Agreeing on a security protocol and its handshake. */
  security?: number
  muxer?: number
  stream: number

  /** From sending a byte to having it back. */
  firstByte: number

  /** From the call to having the byte back. */
  total: number

  /** Closing the connection, not in the total. */
  close: number
}
