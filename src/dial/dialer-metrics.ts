import type { TCPMetrics, TCPOptions } from '../options.ts'
import type { Metrics } from '@libp2p/interface'

/*
 * Names, labels and help texts are those of `@libp2p/tcp`, so that dashboards go on
 * working. options.ts marks the metrics that it does not have.
 */

export function dialerMetrics (metrics?: Metrics, { reusePort, linux }: Pick<TCPOptions, 'reusePort' | 'linux'> = {}): TCPMetrics | undefined {
  if (metrics == null) {
    return
  }

  return {
    events: metrics.registerCounterGroup('libp2p_tcp_dialer_events_total', {
      label: 'event',
      help: 'Total count of TCP dialer events by type'
    }),
    errors: metrics.registerCounterGroup('libp2p_tcp_dialer_errors_total', {
      label: 'event',
      help: 'Total count of TCP dialer events by type'
    }),
    optimistic: metrics.registerCounterGroup('libp2p_tcp_optimistic_dials_total', {
      label: 'outcome',
      help: 'Total count of TCP dials that negotiated the encrypter optimistically by outcome'
    }),
    ports: reusePort === true
      ? metrics.registerCounterGroup('libp2p_tcp_dial_ports_total', {
        label: 'port',
        help: 'Total count of TCP sockets that were opened by the local port that they left from'
      })
      : undefined,
    fastOpen: linux?.hasFastOpen === true
      ? metrics.registerCounterGroup('libp2p_tcp_fast_open_dials_total', {
        label: 'outcome',
        help: 'Total count of TCP dials by what became of the data in the SYN'
      })
      : undefined
  }
}
