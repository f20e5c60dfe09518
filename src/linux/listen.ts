import cluster from 'node:cluster'
import net from 'node:net'
import { IPPROTO_IPV6, IPV6_V6ONLY, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET, SO_REUSEADDR, SO_REUSEPORT } from './libc.ts'
import { socketAddress } from './socket-address.ts'
import { setOptions } from './socket-options.ts'
import { systemError } from './system-error.ts'
import type { Libc } from './libc.ts'
import type { SocketOption } from './socket-options.ts'
import type { ListenOptions, Server } from 'node:net'

/** Node's own default */
const BACKLOG = 511

/**
 * In place of `server.listen(options)`: the server has options that Node has no API for, and
 * the sockets that it accepts inherit them.
 */
export function listenWithOptions (libc: Libc, socketOptions: SocketOption[], server: Server, options: ListenOptions): void {
  const { host, port = 0, path } = options

  // a server that listens already throws
  if (server.listening || path != null || host == null || net.isIP(host.split('%')[0]) === 0) {
    server.listen(options)
    return
  }

  const { fd, failed } = openDescriptor(libc, socketOptions, { ...options, host, port })

  if (failed != null) {
    // as Node does: not before `listen` has returned
    process.nextTick(() => { server.emit('error', systemError('listen', failed, host, port)) })
    return
  }

  const backlog = options.backlog ?? BACKLOG

  if (cluster.isWorker) {
    // the number would be sent to the primary, where it is another file
    server.listen(new net.Socket({ fd }), backlog)
    return
  }

  try {
    server.listen({ fd }, backlog)
  } finally {
    if (!server.listening) {
      libc.close(fd)
    }
  }
}

type Opened = { fd: number, failed?: undefined } | { fd?: undefined, failed: number }

/** Opens a socket that listens. If a step fails, no descriptor is left open */
function openDescriptor (libc: Libc, socketOptions: SocketOption[], { host, port, backlog, ipv6Only, reusePort }: ListenOptions & { host: string, port: number }): Opened {
  const { family, bytes } = socketAddress(host, port)
  const fd = libc.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)

  if (fd < 0) {
    return { failed: fd }
  }

  const steps = [
    () => libc.setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1),
    () => reusePort === true ? libc.setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1) : 0,
    () => host.includes(':') ? libc.setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, ipv6Only === true ? 1 : 0) : 0,
    () => setOptions(libc, fd, socketOptions),
    () => libc.bind(fd, bytes),
    // Node would name no address in the error. Its own call cannot fail after this one
    () => libc.listen(fd, backlog ?? BACKLOG)
  ]

  for (const step of steps) {
    const result = step()

    if (result < 0) {
      libc.close(fd)
      return { failed: result }
    }
  }

  return { fd }
}
