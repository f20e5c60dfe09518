import os from 'node:os'
import { FastOpenUnavailableError } from './errors.ts'
import { libcByKoffi } from './koffi.ts'
import { AF_INET, ARCHITECTURES, IPPROTO_TCP, SOCK_CLOEXEC, SOCK_STREAM, TCP_FASTOPEN, TCP_FASTOPEN_CONNECT } from './libc.ts'
import { libcByNode } from './node-ffi.ts'
import { errorCode } from './system-error.ts'
import type { Libc } from './libc.ts'

/** In the order in which they are tried: koffi is stable, `node:ffi` experimental */
const LOADERS = [libcByKoffi, libcByNode]

/**
 * Calls libc through the first library that this process has: koffi, then `node:ffi`.
 *
 * @throws {FastOpenUnavailableError} if it has neither, or the platform is not supported
 */
export function loadLibc (loaders: Array<() => Libc> = LOADERS): Libc {
  const { platform, arch, versions } = process
  const runtime = ['bun', 'deno'].find(name => versions[name] != null)

  if (platform !== 'linux' || runtime != null || !ARCHITECTURES.includes(arch) || os.endianness() !== 'LE') {
    throw new FastOpenUnavailableError('linux', `TCP Fast Open needs Node on Linux, this is ${runtime ?? 'Node'} on ${platform} ${arch}`)
  }

  const errors: Error[] = []

  for (const load of loaders) {
    try {
      return load()
    } catch (err: any) {
      errors.push(err)
    }
  }

  throw new FastOpenUnavailableError('library',
    'TCP Fast Open needs the package koffi (npm install koffi) or Node 26.1, whose node:ffi serves too',
    new AggregateError(errors)
  )
}

/**
 * Try the two options on sockets that are closed at once.
 *
 * @throws {FastOpenUnavailableError} if the kernel refuses one of them
 */
export function checkKernel (libc: Libc): void {
  const dials = trySocketOption(libc, TCP_FASTOPEN_CONNECT)
  const listens = trySocketOption(libc, TCP_FASTOPEN)

  if (dials < 0 || listens < 0) {
    throw new FastOpenUnavailableError('kernel',
      `TCP Fast Open needs Linux 4.11 or later, and the lowest bit of the sysctl net.ipv4.tcp_fastopen: the kernel answers ${errorCode(Math.min(dials, listens))}`
    )
  }
}

function trySocketOption (libc: Libc, name: number): number {
  const fd = libc.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)

  if (fd < 0) {
    return fd
  }

  const result = libc.setOption(fd, IPPROTO_TCP, name, 1)
  libc.close(fd)

  return result
}
