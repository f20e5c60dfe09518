/**
 * A stack that is timed against others. Importing a rival is cheap, `open` loads
 * the stack.
 */
export interface Rival {
  name: string

  /**
   * What it is, in words for a table.
   */
  title: string

  /**
   * Where `prepare` can take minutes: timed only where it is named.
   */
  onlyIfNamed?: boolean

  /**
   * What it is made of: versions by package.
   */
  versions(): Record<string, string>

  /**
   * Installs what is not there yet.
   *
   * @param onProgress - is told before something slow begins
   */
  prepare?(onProgress: (message: string) => void): Promise<void>

  /**
   * Starts a node in this process.
   */
  open(role: Role): Promise<Peer>
}

export type Role = 'listener' | 'dialler'

export interface Peer {
  /**
   * Echoes what it is sent. Resolves to the multiaddrs it listens on, at a port
   * that the system chose.
   */
  listen(host: string): Promise<string[]>

  /**
   * Dials, gets one byte back, and closes.
   */
  dial(multiaddr: string): Promise<Sample>

  close(): Promise<void>
}

/**
 * Milliseconds that each step of a connection took. Steps that a stack does not
 * have take 0; one that cannot be told apart from its neighbours is undefined.
 */
export interface Sample {
  /**
   * From the call to an open TCP connection.
   */
  connect?: number

  /**
   * Agreeing on a security protocol and its handshake.
   */
  security?: number

  /**
   * Agreeing on a stream muxer.
   */
  muxer?: number

  /**
   * Opening a stream.
   */
  stream: number

  /**
   * From sending a byte to having it back.
   */
  firstByte: number

  /**
   * From the call to having the byte back.
   */
  total: number

  /**
   * Closing the connection, not in the total.
   */
  close: number
}

/**
 * The steps in the order in which they happen
 */
export const STEPS = ['connect', 'security', 'muxer', 'stream', 'firstByte'] as const

export type Step = typeof STEPS[number]
