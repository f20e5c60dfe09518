import { createRequire } from 'node:module'
import { SIGNATURES, toLibc } from './libc.ts'
import type { ArgumentType, Functions, Libc } from './libc.ts'

const TYPES: Record<ArgumentType, string> = { int: 'int', bytes: 'void *', length: 'uint32_t', size: 'size_t' }

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
  const functions = Object.entries(SIGNATURES).map(([name, types]) => [name, libc.func(name, 'int', types.map(type => TYPES[type]))])

  return toLibc(Object.fromEntries(functions) as Functions, () => koffi.errno())
}
