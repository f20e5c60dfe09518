import { identify } from '@libp2p/identify'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { Registry } from 'prom-client'
import { echoOver, handleEcho } from './echo.ts'
import { until } from './lab.ts'
import type { Facts, Lab } from './lab.ts'

/** What dashboards of `@libp2p/tcp` show */
const DASHBOARD = [
  'libp2p_tcp_dialer_events_total',
  'libp2p_tcp_dialer_errors_total',
  'libp2p_tcp_inbound_connections_total',
  'libp2p_tcp_listener_events_total',
  'libp2p_tcp_listener_errors_total',
  'libp2p_tcp_listener_status_info',
  'libp2p_data_transfer_bytes_total',
  'libp2p_connection_manager_connections'
]
const BYTES = 100_000

/** Echoes between two nodes with metrics, and what a dashboard of `@libp2p/tcp` reads then */
export default async function run (lab: Lab): Promise<Facts> {
  const [registry, dialers] = [new Registry(), new Registry()]
  const services = { identify: identify() }
  const listener = await lab.node({ services, metrics: prometheusMetrics({ registry }) })
  const dialer = await lab.node({ services, metrics: prometheusMetrics({ registry: dialers }) })
  const dials = lab.amount(100, 10)

  await handleEcho(listener)

  await lab.measure(async () => {
    for (let i = 0; i < dials; i++) {
      const connection = await dialer.dial(listener.getMultiaddrs())
      await echoOver(connection, i, BYTES)
      await connection.close()
    }
  })

  await until(async () => await total(registry, 'libp2p_tcp_inbound_connections_total') === 0)

  const text = await registry.metrics()

  return {
    dashboard: DASHBOARD.filter(name => text.includes(`# TYPE ${name} `)).join(' '),
    dialed: await total(dialers, 'libp2p_tcp_dialer_events_total', 'connect'),
    accepted: await total(registry, 'libp2p_tcp_listener_events_total', 'connection'),
    transferred: await total(registry, 'libp2p_data_transfer_bytes_total') >= 2 * dials * BYTES ? 'all' : 'less than was sent'
  }
}

async function total (registry: Registry, name: string, event?: string): Promise<number> {
  const { values = [] } = await registry.getSingleMetric(name)?.get() ?? {}

  return values
    .filter(({ labels }) => event == null || Object.values(labels).some(label => `${label}`.endsWith(event)))
    .reduce((sum, { value }) => sum + value, 0)
}
