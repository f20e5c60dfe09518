import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * Stands between a connection and its socket for as long as it has to, and
 * may keep bytes from the peer away from the reader or answer in its place.
 */
export interface WireFilter {
  /** Whether it has done its work, so that the connection goes on without it */
  readonly done: boolean

  /**
   * How long what is sent may wait for what follows it, in ms, where `onSend` gives an
   * answer: whoever gets that will send more
   */
  readonly patience: number

  /**
   * Sees everything that is sent: what was sent first by itself, what waited for the
   * socket to drain joined, and nothing longer than 1 MiB.
   *
   * @returns what the reader shall receive at once, as if it came from the peer
   */
  onSend(data: Uint8ArrayList): Uint8Array | undefined

  /**
   * Sees everything that is received.
   *
   * @returns what of it is for the reader, maybe nothing
   * @throws {Error} if the connection must be aborted
   */
  onReceive(data: Uint8Array): Uint8Array

  /**
   * The peer sent FIN or RST.
   *
   * @throws {Error} if the connection must be aborted
   */
  onEnd(): void
}
