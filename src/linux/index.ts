/**
 * @packageDocumentation
 *
 * What Linux offers and Node has no API for: TCP Fast Open (RFC 7413), a low-water mark for
 * data that is not sent yet, congestion control, and a timeout for data that is not acknowledged.
 *
 * @example
 *
 * ```TypeScript
 * import { createLibp2p } from 'libp2p'
 * import { tcp } from 'libp2p-fast-tcp'
 * import { linux } from 'libp2p-fast-tcp/linux'
 *
 * const node = await createLibp2p({
 *   transports: [
 *     tcp({ linux: linux({ fastOpen: true }) })
 *   ]
 * })
 * ```
 */

import { InvalidParametersError } from '@libp2p/interface'
import { aBoolean, aWholeNumber, anObject, checkOptions } from '../check-options.ts'
import { pluginFor } from '../plugin.ts'
import { Recent } from '../recent.ts'
import { checkKernel } from './check-kernel.ts'
import { LinuxConnector } from './dial.ts'
import { KernelMetrics } from './kernel-metrics.ts'
import { listenWithOptions } from './listen.ts'
import { loadLibc } from './load-libc.ts'
import { FAST_OPEN_DIAL, commonOptions, fastOpenListen } from './socket-options.ts'
import type { SocketOptionValues } from './socket-options.ts'
import type { Rule } from '../check-options.ts'
import type { Linux } from '../options.ts'
import type { Socket } from 'node:net'

export { LinuxUnavailableError } from './errors.ts'
export type { MissingForLinux } from './errors.ts'

/** The default of `fastOpen.queue` */
const QUEUE = 256

/**
 * The default of `unsentLowWater`. Lines of 2 to 50 Mbit/s carry 0.92 of official's or more, and loopback (10 Gbit/s) as much as without. With
 * 128 KiB an echo beside an upload over 2 Mbit/s takes 300 ms longer; 16 KiB save 15 ms more
 */
const UNSENT_LOW_WATER = 32 * 1024

/** How many hosts are dialed without Fast Open since the network dropped a SYN with data, and for how long, in ms */
const BLACK_HOLES = 1_000
const BLACK_HOLE_AGE = 60 * 60_000

export interface FastOpenInit {
  /**
   * How many connections of a listener, from 1 on, may wait for the end of their TCP
   * handshake after their data was taken. Further peers connect in the ordinary way, which
   * takes a round trip more.
   *
   * @default 256
   */
  queue?: number
}

/**
 * Each option holds for dialed sockets, for listening ones, and for those that they accept.
 * Unix sockets have none of them.
 */
export interface LinuxInit {
  /**
   * TCP Fast Open. Dials send their first bytes in the SYN, which saves a round trip from the
   * second dial to a host on. Listeners take such bytes. docs/linux.md says how both hosts
   * must be set up.
   *
   * @default false
   */
  fastOpen?: boolean | FastOpenInit

  /**
   * The kernel asks for more data only when less than this waits to be sent for the first time, in
   * bytes, from 1 on (`TCP_NOTSENT_LOWAT`). By itself it takes a megabyte or more ahead, which a small message
   * of another stream has to wait for. Infinity for no limit.
   *
   * @default 32768
   */
  unsentLowWater?: number

  /**
   * The congestion control algorithm, such as 'bbr', 'cubic' or 'reno' (`TCP_CONGESTION`).
   *
   * @default the system's: the sysctl `net.ipv4.tcp_congestion_control`
   */
  congestion?: string

  /**
   * End a connection with ETIMEDOUT if the peer's host acknowledges nothing of what was sent for
   * this long, in ms, from 1 on (`TCP_USER_TIMEOUT`). It bounds the wait for an answer to the SYN, too.
   *
   * @default the system's: 15 retransmissions, which take about 15 minutes
   */
  userTimeout?: number

  /**
   * After how much idle time the first keep-alive probe is sent, in ms, in whole seconds, 1 to
   * 32,767 of them (`TCP_KEEPIDLE`). Use it in place of `keepAliveInitialDelay` of `tcp()`, with which Node resets
   * the two options below to a second and 10 probes.
   *
   * @default the system's: two hours
   */
  keepAliveDelay?: number

  /**
   * How long after an unanswered keep-alive probe the next one is sent, in ms, in whole seconds, 1
   * to 32,767 of them (`TCP_KEEPINTVL`).
   *
   * @default the system's: 75 s
   */
  keepAliveInterval?: number

  /**
   * After how many unanswered keep-alive probes, 1 to 127, a connection ends with ETIMEDOUT (`TCP_KEEPCNT`).
   *
   * @default the system's: 9
   */
  keepAliveProbes?: number
}

const FAST_OPEN_RULE = anObject({ queue: aWholeNumber(1) })

/** What the kernel takes as 1 to 32767 seconds */
const SECONDS: Rule = { mustBe: 'a number of ms from 1 to 32767000', holds: value => typeof value === 'number' && value >= 1 && value <= 32_767_000 }

/** The limits are the kernel's */
const RULES: Record<keyof LinuxInit, Rule> = {
  fastOpen: { ...FAST_OPEN_RULE, mustBe: 'true, false or an object', holds: value => aBoolean.holds(value) || FAST_OPEN_RULE.holds(value) },
  unsentLowWater: { mustBe: 'a number of bytes from 1 on', holds: value => typeof value === 'number' && value >= 1 },
  congestion: { mustBe: 'the name of a congestion control algorithm', holds: value => typeof value === 'string' && /^[\w-]{1,15}$/.test(value) },
  userTimeout: { ...aWholeNumber(1), mustBe: `a whole number of ms from 1 to ${2 ** 31 - 1}` },
  keepAliveDelay: SECONDS,
  keepAliveInterval: SECONDS,
  keepAliveProbes: aWholeNumber(1, 127)
}

/**
 * Makes the value of the option `linux` of `tcp()`.
 *
 * @throws {LinuxUnavailableError} if this process cannot do it: outside Linux, without koffi
 * or `node:ffi`, or if the kernel refuses an option or its value. Where no descriptor is free to try that, the first dial or
 * listener rejects with it
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
 */
export function linux (init?: LinuxInit): Linux {
  checkOptions('linux()', init, RULES)

  const values = withDefaults(init ?? {})
  const common = commonOptions(values)
  const listening = [...fastOpenListen(values.fastOpen), ...common]
  const libc = loadLibc()

  const hasFastOpen = values.fastOpen != null
  const hasKeepAlive = values.keepAliveDelay != null || values.keepAliveInterval != null || values.keepAliveProbes != null
  const all = values.fastOpen == null ? listening : [FAST_OPEN_DIAL, ...listening]
  let isChecked = checkKernel(libc, all)
  const assertChecked = (): void => { isChecked ||= checkKernel(libc, all) }

  const blackHoles = new Recent<true>(BLACK_HOLES, BLACK_HOLE_AGE)
  const descriptors = new WeakMap<Socket, number>()
  const onOpen = (socket: Socket, fd: number): void => { descriptors.set(socket, fd) }

  return pluginFor('linux', ({ components: { metrics }, options: { dialOpts, listenOpts }, sockets }, below) => {
    if (hasKeepAlive && [dialOpts, listenOpts].some(opts => (opts?.keepAliveInitialDelay ?? 0) > 0)) {
      throw new InvalidParametersError('Node resets the keep-alive options of linux() if tcp() has keepAliveInitialDelay: use keepAliveDelay of linux()')
    }

    if (metrics != null) {
      // the metrics keep it
      void new KernelMetrics(libc, descriptors, sockets, metrics)
    }

    return {
      connector: new LinuxConnector({ libc, assertChecked, below: below.connector, options: common, hasFastOpen, blackHoles, onOpen }),
      bindServer (server, options) {
        assertChecked()
        listenWithOptions(libc, listening, server, options)
      },
      fastOpen: hasFastOpen
        ? metrics?.registerCounterGroup('libp2p_tcp_fast_open_dials_total', {
          label: 'outcome',
          help: 'Total count of TCP dials by what became of the data in the SYN'
        })
        : undefined
    }
  })
}

function withDefaults ({ fastOpen, unsentLowWater, congestion, userTimeout, keepAliveDelay, keepAliveInterval, keepAliveProbes }: LinuxInit): SocketOptionValues {
  return {
    fastOpen: fastOpen == null || fastOpen === false ? undefined : (fastOpen === true ? undefined : fastOpen.queue) ?? QUEUE,
    unsentLowWater: unsentLowWater ?? UNSENT_LOW_WATER,
    congestion: congestion ?? undefined,
    userTimeout: userTimeout ?? undefined,
    keepAliveDelay: keepAliveDelay ?? undefined,
    keepAliveInterval: keepAliveInterval ?? undefined,
    keepAliveProbes: keepAliveProbes ?? undefined
  }
}
