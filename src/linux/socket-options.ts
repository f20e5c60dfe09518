import { IPPROTO_TCP, TCP_CONGESTION, TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_KEEPCNT, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_NOTSENT_LOWAT, TCP_USER_TIMEOUT } from './libc.ts'
import type { Libc } from './libc.ts'

/** What `setsockopt` takes, and the option of `linux()` that asks for it */
export interface SocketOption {
  readonly of: keyof SocketOptionValues
  readonly level: number
  readonly name: number
  readonly value: number | string
}

/** The options of `linux()` that become options of sockets, checked, defaults included */
export interface SocketOptionValues {
  /** The queue of a listener */
  readonly fastOpen?: number
  readonly unsentLowWater: number
  readonly congestion?: string
  readonly userTimeout?: number
  readonly keepAliveDelay?: number
  readonly keepAliveInterval?: number
  readonly keepAliveProbes?: number
}

/** The largest `int` */
const MAX_INT = 2 ** 31 - 1

/** Of dialed and of listening sockets. Accepted ones inherit them from the listening one */
export function commonOptions ({ unsentLowWater, congestion, userTimeout, keepAliveDelay, keepAliveInterval, keepAliveProbes }: SocketOptionValues): SocketOption[] {
  return [
    { of: 'unsentLowWater', level: IPPROTO_TCP, name: TCP_NOTSENT_LOWAT, value: toInt(unsentLowWater) },
    ...congestion == null ? [] : [{ of: 'congestion', level: IPPROTO_TCP, name: TCP_CONGESTION, value: congestion } as const],
    ...userTimeout == null ? [] : [{ of: 'userTimeout', level: IPPROTO_TCP, name: TCP_USER_TIMEOUT, value: toInt(userTimeout) } as const],
    // the kernel counts in seconds
    ...keepAliveDelay == null ? [] : [{ of: 'keepAliveDelay', level: IPPROTO_TCP, name: TCP_KEEPIDLE, value: Math.ceil(keepAliveDelay / 1_000) } as const],
    ...keepAliveInterval == null ? [] : [{ of: 'keepAliveInterval', level: IPPROTO_TCP, name: TCP_KEEPINTVL, value: Math.ceil(keepAliveInterval / 1_000) } as const],
    ...keepAliveProbes == null ? [] : [{ of: 'keepAliveProbes', level: IPPROTO_TCP, name: TCP_KEEPCNT, value: keepAliveProbes } as const]
  ]
}

/** Of sockets whose SYN waits for the first write */
export const FAST_OPEN_DIAL: SocketOption = { of: 'fastOpen', level: IPPROTO_TCP, name: TCP_FASTOPEN_CONNECT, value: 1 }

/** Of listening sockets, if they take data in a SYN */
export function fastOpenListen (queue?: number): SocketOption[] {
  return queue == null ? [] : [{ of: 'fastOpen', level: IPPROTO_TCP, name: TCP_FASTOPEN, value: queue }]
}

/** @returns 0, or the negative number of the first error */
export function setOptions (libc: Libc, fd: number, options: Array<Omit<SocketOption, 'of'>>): number {
  for (const { level, name, value } of options) {
    const result = libc.setOption(fd, level, name, value)

    if (result < 0) {
      return result
    }
  }

  return 0
}

function toInt (value: number): number {
  return Math.min(Math.ceil(value), MAX_INT)
}
