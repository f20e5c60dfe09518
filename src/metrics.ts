import type { TCPMetrics } from './options.ts'
import type { CounterGroup, MetricGroup, Metrics } from '@libp2p/interface'

/*
 * Names, labels and help texts are those of `@libp2p/tcp`, so that dashboards
 * go on working; what they do not have is marked in options.ts.
 */

export interface ListenerMetrics {
  status?: MetricGroup
  errors?: CounterGroup
  events?: CounterGroup
}

export function dialerMetrics (metrics?: Metrics): TCPMetrics | undefined {
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
    })
  }
}

/** `connections` tells how many connections the listener has now, by its address */
export function listenerMetrics (metrics: Metrics | undefined, connections: () => Record<string, number>): ListenerMetrics {
  metrics?.registerMetricGroup('libp2p_tcp_inbound_connections_total', {
    label: 'address',
    help: 'Current active connections in TCP listener',
    calculate: connections
  })

  return {
    status: metrics?.registerMetricGroup('libp2p_tcp_listener_status_info', {
      label: 'address',
      help: 'Current status of the TCP listener socket'
    }),
    errors: metrics?.registerMetricGroup('libp2p_tcp_listener_errors_total', {
      label: 'address',
      help: 'Total count of TCP listener errors by type'
    }),
    events: metrics?.registerMetricGroup('libp2p_tcp_listener_events_total', {
      label: 'address',
      help: 'Total count of TCP listener events by type'
    })
  }
}
