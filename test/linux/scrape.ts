/* eslint-disable no-console */
import net from 'node:net'
import { defaultLogger } from '@libp2p/logger'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { pEvent } from 'p-event'
import { Registry } from 'prom-client'
import { linux } from '../../src/linux/index.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { until } from '../fixtures/waiting.ts'
import { median } from '../lab/statistics.ts'

/*
 * How long the kernel's metrics of 1,000 connections hold up the event loop, dialed and accepted ones. The other ends are plain
 * sockets of this process. Fails where a scrape after the first takes more than 5 ms.
 *
 * npm exec -- node test/linux/scrape.ts
 */

const CONNECTIONS = 1_000
const SCRAPES = 50
const AT_MOST = 5

for (const kind of ['dialed', 'accepted'] as const) {
  const cleanups: Array<() => unknown> = []
  const defer = (cleanup: () => unknown): void => { cleanups.push(cleanup) }
  const registry = new Registry()
  const metrics = prometheusMetrics({ registry, collectDefaultMetrics: false })({ logger: defaultLogger() })
  const { dial, listen } = rawTransport(defer, { linux: linux(), backlog: 2 * CONNECTIONS }, { metrics })

  if (kind === 'dialed') {
    const server = net.createServer({ allowHalfOpen: true }, socket => { socket.on('error', () => {}) }).listen({ port: 0, host: '127.0.0.1', backlog: 2 * CONNECTIONS })
    await pEvent(server, 'listening')
    defer(() => { server.close() })

    for (let i = 0; i < CONNECTIONS; i++) {
      await dial(`/ip4/127.0.0.1/tcp/${(server.address() as net.AddressInfo).port}`)
    }
  } else {
    const { port, accepted } = await listen()

    for (let i = 0; i < CONNECTIONS; i++) {
      const socket = net.connect({ port, host: '127.0.0.1' }).on('error', () => {})
      await pEvent(socket, 'connect')
      defer(() => { socket.destroy() })
    }

    await until(() => accepted.length === CONNECTIONS, 'all are accepted')
  }

  const calculated = registry.getSingleMetric('libp2p_tcp_sockets') as any
  const all: number[] = []

  for (let i = 0; i <= SCRAPES; i++) {
    const start = performance.now()
    const scraping = calculated.get()
    // the kernel is asked before `get` returns
    all.push(performance.now() - start)

    const { values } = await scraping
    const read = values.find(({ labels }: any) => labels.state === 'read').value

    if (read !== CONNECTIONS) {
      throw new Error(`${read} were read`)
    }
  }

  const [first, ...later] = all
  const ms = (value: number): string => `${value.toFixed(2)} ms`

  console.log('%d %s connections: the first scrape %s, which finds their descriptors; later ones %s (median), %s (shortest), %s (longest)',
    CONNECTIONS, kind, ms(first), ms(median(later)), ms(Math.min(...later)), ms(Math.max(...later)))

  if (median(later) > AT_MOST) {
    console.error('more than %d ms', AT_MOST)
    process.exitCode = 1
  }

  for (const cleanup of cleanups.toReversed()) {
    await cleanup()
  }
}

process.exit()
