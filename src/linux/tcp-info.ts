import type { FastOpenOutcome } from '../connector.ts'

/*
 * `struct tcp_info` of linux/tcp.h. Newer kernels append to it, and fill no more than a caller has room for.
 */

/** How many of its first bytes describe the connect */
export const STATE_BYTES = 8

/** How many of its bytes {@link readTcpInfo} reads. Linux has them since 4.19 */
export const TCP_INFO_BYTES = 216

/** `TCP_SYN_SENT` of the kernel: also where the SYN waits for the first write */
const SYN_SENT = 2

/** `TCP_CLOSE` of the kernel: the connection has failed or was reset, and Node is yet to be told */
const CLOSE = 7

/** `TCPI_OPT_SYN_DATA` */
const SYN_DATA = 32

/** `enum tcp_fastopen_client_fail`, by number */
const FAILURES: FastOpenOutcome[] = ['no_data', 'no_cookie', 'not_acknowledged', 'retransmitted']

/** A connection whose SYN may wait for the first write, as the kernel knows it */
export interface KernelState {
  /** Whether the peer is not known to have answered the SYN */
  isPending: boolean

  /** Final when the connection is no longer pending. Until then `retransmitted` says that the SYN was sent again */
  outcome: FastOpenOutcome
}

/**
 * The first byte is the state, the third counts how often what waits for an answer was sent again, the sixth
 * holds the options, and two bits of the eighth say why the data of the SYN was not acknowledged.
 */
export function readKernelState (info: Uint8Array): KernelState {
  const isPending = info[0] === SYN_SENT || info[0] === CLOSE

  if ((info[5] & SYN_DATA) !== 0) {
    return { isPending: false, outcome: 'acknowledged' }
  }

  return { isPending, outcome: isPending && info[2] > 0 ? 'retransmitted' : FAILURES[(info[7] >> 1) & 3] }
}

/** Since the connection began. `sent` holds what was sent again, too */
export interface Counts {
  sent: number
  retransmitted: number
  received: number
}

/** What the kernel knows of a connection */
export interface TcpInfo {
  /** Smoothed, in s. 0 until it is measured */
  roundTrip: number

  /** How much may be under way unacknowledged, in bytes */
  congestionWindow: number

  /** What the kernel has taken and not sent yet */
  unsentBytes: number
  bytes: Counts

  /** Acknowledgements without data are segments too */
  segments: Counts
}

/** Its numbers are in the byte order of this machine, which is little-endian */
export function readTcpInfo (info: Uint8Array): TcpInfo {
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength)
  const u32 = (offset: number): number => view.getUint32(offset, true)
  const u64 = (offset: number): number => Number(view.getBigUint64(offset, true))

  return {
    roundTrip: u32(68) / 1e6,
    congestionWindow: u32(80) * u32(16),
    unsentBytes: u32(144),
    bytes: { sent: u64(200), retransmitted: u64(208), received: u64(128) },
    segments: { sent: u32(136), retransmitted: u32(100), received: u32(140) }
  }
}
