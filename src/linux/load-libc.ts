import os from 'node:os'
import { LinuxUnavailableError } from './errors.ts'
import { libcByKoffi } from './koffi.ts'
import { ARCHITECTURES } from './libc.ts'
import { libcByNode } from './node-ffi.ts'
import type { Libc } from './libc.ts'

/** In the order in which they are tried: koffi is stable, `node:ffi` experimental */
const LOADERS = [libcByKoffi, libcByNode]

/**
 * Calls libc through the first library that this process has: koffi, then `node:ffi`.
 *
 * @throws {LinuxUnavailableError} if it has neither, or the platform is not supported
 */
export function loadLibc (loaders: Array<() => Libc> = LOADERS): Libc {
  const { platform, arch, versions } = process
  const runtime = ['bun', 'deno'].find(name => versions[name] != null)

  if (platform !== 'linux' || runtime != null || !ARCHITECTURES.includes(arch) || os.endianness() !== 'LE') {
    throw new LinuxUnavailableError('linux', `linux() needs Node on Linux, this is ${runtime ?? 'Node'} on ${platform} ${arch}`)
  }

  const errors: Error[] = []

  for (const load of loaders) {
    try {
      return load()
    } catch (err: any) {
      errors.push(err)
    }
  }

  throw new LinuxUnavailableError('library',
    'linux() needs the package koffi (npm install koffi) or Node 26.1, whose node:ffi serves too',
    new AggregateError(errors)
  )
}
