import type { Socket } from 'node:net'

/** Where a socket keeps what its listeners are for */
export const owner = Symbol('libp2p-fast-tcp.owner')

type Owned <Owner> = Socket & { [owner]: Owner }

/**
 * What a socket tells. Functions of `this`, the socket: closures would be six for
 * every connection, and take a tenth of its memory.
 */
export interface SocketListeners <Owner> {
  data(this: Owned<Owner>, data: Buffer): void
  drain(this: Owned<Owner>): void
  end(this: Owned<Owner>): void
  error(this: Owned<Owner>, err: NodeJS.ErrnoException): void
  close(this: Owned<Owner>): void
  timeout(this: Owned<Owner>): void
}

/** The same listeners for every socket, each told of its own owner */
export function listen <Owner> (socket: Socket, listeners: SocketListeners<Owner>, of: Owner): void {
  const owned = socket as Owned<Owner>

  owned[owner] = of
  owned
    .on('data', listeners.data)
    .on('drain', listeners.drain)
    .on('end', listeners.end)
    .on('error', listeners.error)
    .on('close', listeners.close)
    .on('timeout', listeners.timeout)
    .off('error', ignore)
}

/** From its birth until `listen`, or to its death: an 'error' without a listener ends the process */
export function ignoreErrors (socket: Socket): void {
  socket.on('error', ignore)
}

function ignore (): void {}
