import { safeCounters } from '../safe-metrics.ts'
import type { FastOpenOutcome, PortUse } from '../connector.ts'
import type { CounterGroup, Metrics } from '@libp2p/interface'

/*
 * Names, labels and help texts are those of `@libp2p/tcp`, so that dashboards go on working.
 */

export interface TCPMetrics {
  events: CounterGroup<'error' | 'timeout' | 'connect' | 'abort'>
  errors: CounterGroup<'outbound_to_connection' | 'outbound_upgrade'>

  /** How optimistic dials went; not in `@libp2p/tcp` */
  optimistic?: CounterGroup<'accepted' | 'refused' | 'redialed'>

  /** By the port that they left from, with the option `reusePort`; not in `@libp2p/tcp` */
  ports?: CounterGroup<PortUse>

  /** What became of the data in the SYN of dials, with the option `fastOpen` of `linux()`; not in `@libp2p/tcp` */
  fastOpen?: CounterGroup<FastOpenOutcome>
}

/** `ports` and `fastOpen` are those of the plug-ins */
export function dialerMetrics (metrics: Metrics | undefined, plugins: Pick<TCPMetrics, 'ports' | 'fastOpen'>): TCPMetrics | undefined {
  if (metrics == null) {
    return
  }

  return {
    events: safeCounters(metrics.registerCounterGroup('libp2p_tcp_dialer_events_total', {
      label: 'event',
      help: 'Total count of TCP dialer events by type'
    })),
    errors: safeCounters(metrics.registerCounterGroup('libp2p_tcp_dialer_errors_total', {
      label: 'event',
      help: 'Total count of TCP dialer events by type'
    })),
    optimistic: safeCounters(metrics.registerCounterGroup('libp2p_tcp_optimistic_dials_total', {
      label: 'outcome',
      help: 'Total count of TCP dials that negotiated the encrypter optimistically by outcome'
    })),
    ports: safeCounters(plugins.ports),
    fastOpen: safeCounters(plugins.fastOpen)
  }
}
