import type { DeferredConnect, FastOpenOutcome } from '../options.ts'

/** `TCP_SYN_SENT` of the kernel: also where the SYN waits for the first write */
const SYN_SENT = 2

/** `TCPI_OPT_SYN_DATA` of linux/tcp.h */
const SYN_DATA = 32

/** `enum tcp_fastopen_client_fail` of linux/tcp.h, by number */
const FAILURES: FastOpenOutcome[] = ['no_data', 'no_cookie', 'not_acknowledged', 'retransmitted']

/**
 * Reads the first 8 bytes of `struct tcp_info`. The first byte is the state, the sixth holds
 * the options, and two bits of the eighth say why the data of the SYN was not acknowledged.
 */
export function readTcpInfo (info: Uint8Array): DeferredConnect {
  return {
    isPending: info[0] === SYN_SENT,
    outcome: (info[5] & SYN_DATA) !== 0 ? 'acknowledged' : FAILURES[(info[7] >> 1) & 3]
  }
}
