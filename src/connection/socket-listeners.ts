import type { Socket } from 'node:net'

/** Where a socket keeps the object that its listeners serve */
export const owner = Symbol('libp2p-fast-tcp.owner')

type Owned <Owner> = Socket & { [owner]: Owner }

/**
 * The listeners of a socket, with the socket as `this`. Six closures for each connection
 * would take a tenth of its memory.
 */
export interface SocketListeners <Owner> {
  data(this: Owned<Owner>, data: Buffer): void
  drain(this: Owned<Owner>): void
  end(this: Owned<Owner>): void
  error(this: Owned<Owner>, err: NodeJS.ErrnoException): void
  close(this: Owned<Owner>): void
  timeout(this: Owned<Owner>): void
}

/** Adds the same listeners to every socket. They find the owner in the socket */
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

/** For a new socket, until `listen` or for good: an 'error' without a listener ends the process */
export function ignoreErrors (socket: Socket): void {
  socket.on('error', ignore)
}

function ignore (): void {}
