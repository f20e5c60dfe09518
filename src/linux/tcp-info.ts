import type { FastOpenOutcome } from '../connector.ts'

/** `TCP_SYN_SENT` of the kernel: also where the SYN waits for the first write */
const SYN_SENT = 2

/** `TCPI_OPT_SYN_DATA` of linux/tcp.h */
const SYN_DATA = 32

/** `enum tcp_fastopen_client_fail` of linux/tcp.h, by number */
const FAILURES: FastOpenOutcome[] = ['no_data', 'no_cookie', 'not_acknowledged', 'retransmitted']

/** A connection whose SYN may wait for the first write, as the kernel knows it */
export interface KernelState {
  /** Whether the peer has yet to answer the SYN */
  isPending: boolean

  /** Final when the connection is no longer pending */
  outcome: FastOpenOutcome
}

/**
 * Reads the first 8 bytes of `struct tcp_info`. The first byte is the state, the sixth holds
 * the options, and two bits of the eighth say why the data of the SYN was not acknowledged.
 */
export function readKernelState (info: Uint8Array): KernelState {
  return {
    isPending: info[0] === SYN_SENT,
    outcome: (info[5] & SYN_DATA) !== 0 ? 'acknowledged' : FAILURES[(info[7] >> 1) & 3]
  }
}
