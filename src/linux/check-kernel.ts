import { readFileSync } from 'node:fs'
import os from 'node:os'
import { printable } from '../printable.ts'
import { LinuxUnavailableError } from './errors.ts'
import { AF_INET, SOCK_CLOEXEC, SOCK_STREAM } from './libc.ts'
import { errorCode } from './system-error.ts'
import type { Libc } from './libc.ts'
import type { SocketOption } from './socket-options.ts'

const PROC = '/proc/sys/net/ipv4'

/**
 * Tries all options on a socket that is closed at once.
 *
 * @returns false if no socket could be opened, for example since no descriptor is free: that says nothing about the options
 * @throws {LinuxUnavailableError} if the kernel refuses one
 */
export function checkKernel (libc: Libc, options: SocketOption[]): boolean {
  const fd = libc.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)

  if (fd < 0) {
    return false
  }

  try {
    options.forEach(option => { tryOption(libc, fd, option) })
  } finally {
    libc.close(fd)
  }

  return true
}

function tryOption (libc: Libc, fd: number, option: SocketOption): void {
  const result = libc.setOption(fd, option.level, option.name, option.value)

  if (result < 0) {
    throw new LinuxUnavailableError('kernel', printable(`${reasons[option.of]?.(option, result) ?? `The option ${option.of} of linux() cannot work`}: the kernel answers ${errorCode(result)}`))
  }
}

const reasons: Partial<Record<SocketOption['of'], (option: SocketOption, result: number) => string>> = {
  fastOpen: () => 'TCP Fast Open needs Linux 4.11 or later, and the lowest bit of the sysctl net.ipv4.tcp_fastopen',
  unsentLowWater: () => 'The option unsentLowWater of linux() needs Linux 3.12 or later',

  congestion ({ value }, result) {
    switch (-result) {
      case os.constants.errno.ENOENT:
        return `The option congestion of linux() is '${value}', and this kernel has ${algorithms('tcp_available_congestion_control')}. A module may have to be loaded: modprobe tcp_${value}`
      case os.constants.errno.EPERM:
        return `The option congestion of linux() is '${value}', and this process may use ${algorithms('tcp_allowed_congestion_control')}: root adds to net.ipv4.tcp_allowed_congestion_control`
      default:
        return `The option congestion of linux() cannot be '${value}'`
    }
  }
}

/** What a setting of the kernel lists */
function algorithms (name: string): string {
  try {
    return readFileSync(`${PROC}/${name}`, 'utf8').trim().split(/\s+/).join(', ')
  } catch {
    return `what net.ipv4.${name} says`
  }
}
