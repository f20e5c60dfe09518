import { MSG_DONTWAIT, MSG_NOSIGNAL } from './libc.ts'
import { optionBytes } from './option-bytes.ts'
import type { Libc } from './libc.ts'

/** The part of `node:ffi` that is used here: `@types/node` of Node 24 does not know it */
interface NodeFfi {
  dlopen(path: null, definitions: Record<string, { arguments: string[], return: string }>): {
    functions: Record<string, (...args: unknown[]) => any>
  }
  getInt32(pointer: bigint, offset: number): number
}

/**
 * Calls libc through Node's own `node:ffi`, which Node 26.1 and later have.
 *
 * @see https://nodejs.org/api/ffi.html
 * @throws {Error} if this Node has none, or was told not to use it
 */
export function libcByNode (): Libc {
  // Node 22 has no `getBuiltinModule` before 22.3
  const ffi = process.getBuiltinModule?.('node:ffi') as NodeFfi | undefined

  if (ffi == null) {
    throw new Error(`Node ${process.versions.node} has no node:ffi`)
  }

  const { functions: libc } = ffi.dlopen(null, {
    socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
    bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
    listen: { arguments: ['i32', 'i32'], return: 'i32' },
    setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
    getsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'buffer'], return: 'i32' },
    getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
    getpeername: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
    send: { arguments: ['i32', 'buffer', 'u64', 'i32'], return: 'i32' },
    close: { arguments: ['i32'], return: 'i32' },
    __errno_location: { arguments: [], return: 'pointer' }
  })

  // the same for as long as the thread lives
  const errno: bigint = libc.__errno_location()
  const orError = (result: number): number => result < 0 ? -ffi.getInt32(errno, 0) : result

  // the calls are synchronous, so one is enough
  const length = new Int32Array(1)
  const lengthBytes = new Uint8Array(length.buffer)

  return {
    socket: (family, type, protocol) => orError(libc.socket(family, type, protocol)),
    bind: (fd, address) => orError(libc.bind(fd, address, address.byteLength)),
    listen: (fd, backlog) => orError(libc.listen(fd, backlog)),
    setOption (fd, level, name, value) {
      const bytes = optionBytes(value)

      return orError(libc.setsockopt(fd, level, name, bytes, bytes.byteLength))
    },
    getOption (fd, level, name, into) {
      length[0] = into.byteLength
      const result = orError(libc.getsockopt(fd, level, name, into, lengthBytes))

      return result < 0 ? result : length[0]
    },
    getAddress (fd, end, into) {
      length[0] = into.byteLength
      const result = orError((end === 'own' ? libc.getsockname : libc.getpeername)(fd, into, lengthBytes))

      return result < 0 ? result : length[0]
    },
    send: (fd, bytes) => orError(libc.send(fd, bytes, BigInt(bytes.byteLength), MSG_DONTWAIT | MSG_NOSIGNAL)),
    close: fd => orError(libc.close(fd))
  }
}
