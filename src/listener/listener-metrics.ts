import { safeCounters, tell } from '../safe-metrics.ts'
import type { ServerState } from './pausable-server.ts'
import type { CounterGroup, MetricGroup, Metrics } from '@libp2p/interface'
import type { AddressInfo } from 'node:net'

/** The values of the status metric, as in `@libp2p/tcp` */
const STATUS_CODES: Record<ServerState, number> = {
  idle: 0,
  listening: 1,
  paused: 2,
  closed: 0
}

/**
 * The metrics of one listener, by the address that it listens on. Names,
 * labels and help texts are those of `@libp2p/tcp`, so that dashboards go on
 * working.
 */
export class ListenerMetrics {
  /** Of connections that it accepted */
  readonly events?: CounterGroup

  readonly #errors?: CounterGroup
  readonly #status?: MetricGroup
  #label = 'unknown'

  /** `connections` tells how many connections the listener has now */
  constructor (metrics: Metrics | undefined, connections: () => number) {
    metrics?.registerMetricGroup('libp2p_tcp_inbound_connections_total', {
      label: 'address',
      help: 'Current active connections in TCP listener',
      calculate: () => ({ [this.#label]: connections() })
    })

    this.#status = metrics?.registerMetricGroup('libp2p_tcp_listener_status_info', {
      label: 'address',
      help: 'Current status of the TCP listener socket'
    })
    this.#errors = safeCounters(metrics?.registerMetricGroup('libp2p_tcp_listener_errors_total', {
      label: 'address',
      help: 'Total count of TCP listener errors by type'
    }))
    this.events = safeCounters(metrics?.registerMetricGroup('libp2p_tcp_listener_events_total', {
      label: 'address',
      help: 'Total count of TCP listener events by type'
    }))
  }

  /** The address that it listens on, or did: `host:port` or a path */
  get label (): string {
    return this.#label
  }

  listensOn (address: AddressInfo | string): void {
    this.#label = typeof address === 'string' ? address : `${address.address}:${address.port}`
  }

  updateStatus (state: ServerState): void {
    tell(() => this.#status?.update({ [this.#label]: STATUS_CODES[state] }))
  }

  countEvent (name: string): void {
    this.events?.increment({ [`${this.#label} ${name}`]: true })
  }

  countError (name: string): void {
    this.#errors?.increment({ [`${this.#label} ${name}`]: true })
  }
}
