import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * Stands between a connection and its socket until it is `done`. It may hide bytes of the
 * peer from the reader, and answer in the peer's place.
 */
export interface WireFilter {
  /** Whether it has done its work, so that the connection goes on without it */
  readonly done: boolean

  /**
   * Sees everything that is sent, in pieces of 1 MiB at most. The first `send` is a piece of
   * its own. Data that waited for the socket to drain is joined.
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
