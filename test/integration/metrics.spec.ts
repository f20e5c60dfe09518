import { defaultLogger } from '@libp2p/logger'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { tcp as officialTcp } from '@libp2p/tcp'
import { expect } from 'aegir/chai'
import { Registry } from 'prom-client'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { passThrough, portOf } from '../fixtures/raw.ts'
import { tcp } from '../fixtures/transport.ts'
import { until } from '../fixtures/waiting.ts'
import type { TestNode } from '../fixtures/node.ts'
import type { Upgrader } from '@libp2p/interface'

const TCP_METRICS = [
  'libp2p_tcp_dialer_errors_total',
  'libp2p_tcp_dialer_events_total',
  'libp2p_tcp_inbound_connections_total',
  'libp2p_tcp_listener_errors_total',
  'libp2p_tcp_listener_events_total',
  'libp2p_tcp_listener_status_info'
]

describe('metrics for Prometheus', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  /**
   * A registry with the metrics of one node, and a function that reads one of
   * its lines
   */
  function scrape (): { metrics: ReturnType<typeof prometheusMetrics>, read(line: string): Promise<number> } {
    const registry = new Registry()

    return {
      metrics: prometheusMetrics({ registry, collectDefaultMetrics: false }),
      async read (line) {
        const found = (await registry.metrics()).split('\n').find(candidate => candidate.startsWith(line))

        return Number(found?.slice(line.length) ?? 0)
      }
    }
  }

  async function talkAndClose (dialer: TestNode, listener: TestNode, closer: TestNode): Promise<void> {
    await dialer.dial(listener.getMultiaddrs())
    await dialer.services.ping.ping(listener.peerId)
    await until(() => closer.getConnections().length === 1, 'both are connected')
    await closer.getConnections()[0].close()
    await until(() => dialer.getConnections().length + listener.getConnections().length === 0, 'both are closed')
  }

  it('count what a dialer does', async () => {
    const { metrics, read } = scrape()
    const dialer = await createNode(defer, { metrics })
    const listener = await createNode(defer, { listen: true })

    await talkAndClose(dialer, listener, dialer)
    expect(await read('libp2p_tcp_dialer_events_total{event="connect"}')).to.equal(1)
    expect(await read('libp2p_tcp_dialer_events_total{event="end"}')).to.equal(1)
    expect(await read('libp2p_tcp_dialer_events_total{event="_local_close"}')).to.equal(1)
    expect(await read('libp2p_tcp_dialer_events_total{event="_remote_close"}')).to.equal(0)

    await talkAndClose(dialer, listener, listener)
    expect(await read('libp2p_tcp_dialer_events_total{event="_local_close"}')).to.equal(1)
    expect(await read('libp2p_tcp_dialer_events_total{event="_remote_close"}')).to.equal(1)
  })

  it('count what a listener does', async () => {
    const { metrics, read } = scrape()
    const dialer = await createNode(defer)
    const listener = await createNode(defer, { metrics, listen: true })
    const address = `127.0.0.1:${portOf(listener.getMultiaddrs()[0])}`

    expect(await read(`libp2p_tcp_listener_status_info{address="${address}"}`)).to.equal(1)

    await dialer.dial(listener.getMultiaddrs())
    await until(() => listener.getConnections().length === 1, 'both are connected')
    expect(await read(`libp2p_tcp_listener_events_total{address="${address} connection"}`)).to.equal(1)
    expect(await read(`libp2p_tcp_inbound_connections_total{address="${address}"}`)).to.equal(1)

    await talkAndClose(dialer, listener, listener)
    expect(await read(`libp2p_tcp_listener_events_total{address="${address} _local_close"}`)).to.equal(1)
    await until(async () => await read(`libp2p_tcp_inbound_connections_total{address="${address}"}`) === 0, 'the connection is gone')
  })

  it('have the names, labels and help texts of @libp2p/tcp', async () => {
    async function describeMetrics (transport: typeof tcp): Promise<unknown[]> {
      const registry = new Registry()
      const logger = defaultLogger()
      const metrics = prometheusMetrics({ registry, collectDefaultMetrics: false })({ logger })
      transport()({ logger, metrics }).createListener({ upgrader: passThrough() as Upgrader })

      return registry.getMetricsAsArray()
        .map(({ name, help, labelNames, type }: any) => ({ name, help, labelNames, type }))
        .filter(({ name }) => TCP_METRICS.includes(name))
        .sort((a, b) => a.name.localeCompare(b.name))
    }

    const described = await describeMetrics(tcp)
    expect(described).to.deep.equal(await describeMetrics(officialTcp as unknown as typeof tcp))
    expect(described.map(({ name }: any) => name)).to.deep.equal(TCP_METRICS)
  })
})
