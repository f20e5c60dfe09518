import { SIGNATURES, toLibc } from './libc.ts'
import type { ArgumentType, Functions, Libc } from './libc.ts'

/** The part of `node:ffi` that is used here: `@types/node` of Node 24 does not know it */
interface NodeFfi {
  dlopen(path: null, definitions: Record<string, { arguments: string[], return: string }>): {
    functions: Functions & { __errno_location(): bigint }
  }
  getInt32(pointer: bigint, offset: number): number
}

const TYPES: Record<ArgumentType, string> = { int: 'i32', bytes: 'buffer', length: 'u32', size: 'u64' }

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

  const definitions = Object.entries(SIGNATURES).map(([name, types]) => [name, { arguments: types.map(type => TYPES[type]), return: 'i32' }])
  const { functions } = ffi.dlopen(null, {
    ...Object.fromEntries(definitions),
    __errno_location: { arguments: [], return: 'pointer' }
  })

  // the same for as long as the thread lives
  const errno = functions.__errno_location()

  return toLibc(functions, () => ffi.getInt32(errno, 0))
}
