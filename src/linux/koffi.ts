import { createRequire } from 'node:module'
import { MSG_DONTWAIT, MSG_NOSIGNAL } from './libc.ts'
import { optionBytes } from './option-bytes.ts'
import type { Libc } from './libc.ts'

/**
 * Calls libc through the package koffi.
 *
 * @see https://koffi.dev
 * @throws {Error} if koffi is not installed, or has no binary for this machine
 */
export function libcByKoffi (): Libc {
  // not `import`: it is asynchronous, and bundlers would follow it
  const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi')
  const libc = koffi.load(null)
  const socket = libc.func('socket', 'int', ['int', 'int', 'int'])
  const bind = libc.func('bind', 'int', ['int', 'void *', 'uint32_t'])
  const listen = libc.func('listen', 'int', ['int', 'int'])
  const setsockopt = libc.func('setsockopt', 'int', ['int', 'int', 'int', 'void *', 'uint32_t'])
  const getsockopt = libc.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *'])
  const getsockname = libc.func('getsockname', 'int', ['int', 'void *', 'void *'])
  const getpeername = libc.func('getpeername', 'int', ['int', 'void *', 'void *'])
  const send = libc.func('send', 'int', ['int', 'void *', 'size_t', 'int'])
  const close = libc.func('close', 'int', ['int'])

  const orError = (result: number): number => result < 0 ? -koffi.errno() : result

  // the calls are synchronous, so one is enough
  const length = new Int32Array(1)
  const lengthBytes = new Uint8Array(length.buffer)

  return {
    socket: (family, type, protocol) => orError(socket(family, type, protocol)),
    bind: (fd, address) => orError(bind(fd, address, address.byteLength)),
    listen: (fd, backlog) => orError(listen(fd, backlog)),
    setOption (fd, level, name, value) {
      const bytes = optionBytes(value)

      return orError(setsockopt(fd, level, name, bytes, bytes.byteLength))
    },
    getOption (fd, level, name, into) {
      length[0] = into.byteLength
      const result = orError(getsockopt(fd, level, name, into, lengthBytes))

      return result < 0 ? result : length[0]
    },
    getAddress (fd, end, into) {
      length[0] = into.byteLength
      const result = orError((end === 'own' ? getsockname : getpeername)(fd, into, lengthBytes))

      return result < 0 ? result : length[0]
    },
    send: (fd, bytes) => orError(send(fd, bytes, bytes.byteLength, MSG_DONTWAIT | MSG_NOSIGNAL)),
    close: fd => orError(close(fd))
  }
}
