/**
 * Set on a connection that waits for what an encrypter above it has kept. It takes that after its
 * `close` was called. Before it acts on the peer's FIN, it flushes what waits for the end of the turn.
 */
export const waitsForEncrypter: unique symbol = Symbol('libp2p-fast-tcp/waits-for-encrypter')

/** Whether the connection below an encrypter does so. Others, such as one in memory, do not */
export function isWaitingForEncrypter (connection: object): boolean {
  return Reflect.get(connection, waitsForEncrypter) === true
}
