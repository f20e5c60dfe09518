import { execFileSync, spawnSync } from 'node:child_process'
import { defaultLogger } from '@libp2p/logger'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { expect } from 'aegir/chai'
import { Registry } from 'prom-client'
import { linux } from '../../src/linux/index.ts'
import { MAX_READ } from '../../src/linux/kernel-metrics.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { itIf, skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import { canUseLinux, skipped } from './fixtures/availability.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { RawTransport } from '../fixtures/raw.ts'
import type { Metrics, MultiaddrConnection } from '@libp2p/interface'

const hasSs = spawnSync('ss', ['-V']).status === 0

/** A line of what is scraped for Prometheus, by its name and labels */
type Scrape = Record<string, number>

describe(`the kernel's metrics${skipped(canUseLinux)}`, function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  skipUnless(canUseLinux)

  function measured (options: TCPOptions = {}): RawTransport & { scrape(): Promise<Scrape> } {
    const registry = new Registry()
    const metrics = prometheusMetrics({ registry, collectDefaultMetrics: false })({ logger: defaultLogger() })

    return {
      ...rawTransport(defer, { linux: linux(), ...options }, { metrics }),
      scrape: async () => Object.fromEntries((await registry.metrics()).split('\n')
        .filter(line => line.startsWith('libp2p_tcp_'))
        .map(line => line.split(' ')).map(([name, value]) => [name, Number(value)]))
    }
  }

  /** What `ss` prints of all ends of the connections to this port, added up */
  function ssOf (port: number): Record<string, number> {
    const text = execFileSync('ss', ['-Htin', 'state', 'established', `( sport = :${port} or dport = :${port} )`], { encoding: 'utf8' })
    const sums: Record<string, number> = { ends: 0, rtt: 0 }

    for (const info of text.split('\n').filter(line => line.startsWith('\t'))) {
      sums.ends++
      sums.rtt += Number(/ rtt:([\d.]+)\//.exec(info)?.[1] ?? 0)
      sums.window = (sums.window ?? 0) + Number(/ cwnd:(\d+)/.exec(info)?.[1] ?? 0) * Number(/ mss:(\d+)/.exec(info)?.[1] ?? 0)

      for (const name of ['bytes_sent', 'bytes_retrans', 'bytes_received', 'segs_out', 'segs_in', 'notsent']) {
        sums[name] = (sums[name] ?? 0) + Number(new RegExp(` ${name}:(\\d+)`).exec(info)?.[1] ?? 0)
      }
    }

    return sums
  }

  async function exchange (dialer: MultiaddrConnection, acceptor: MultiaddrConnection, bytes: number): Promise<void> {
    let left = 2 * bytes
    const onMessage = ({ data }: { data: { byteLength: number } }): void => { left -= data.byteLength }

    dialer.addEventListener('message', onMessage)
    acceptor.addEventListener('message', onMessage)

    dialer.send(new Uint8Array(bytes))
    acceptor.send(new Uint8Array(bytes))
    await until(() => left === 0, 'all has arrived')
  }

  for (const ma of ['/ip4/127.0.0.1/tcp/0', '/ip6/::1/tcp/0']) {
    itIf(hasSs)(`agree with what ss shows at the same moment, of dialed and accepted sockets: ${ma}`, async () => {
      const { dial, listen, scrape } = measured()
      const { addr, port, next } = await listen(ma)

      for (const bytes of [1_000, 100_000]) {
        const dialer = await dial(addr)
        await exchange(dialer, await next(), bytes)
      }

      // a delayed acknowledgement may change them in between
      await until(async () => {
        const before = ssOf(port)
        const scraped = await scrape()
        const after = ssOf(port)

        expect(scraped['libp2p_tcp_sockets{state="open"}']).to.equal(4)
        expect(scraped['libp2p_tcp_sockets{state="read"}']).to.equal(4)

        return before.segs_out === after.segs_out && before.segs_in === after.segs_in && scraped['libp2p_tcp_segments_total{kind="sent"}'] === after.segs_out
      }, 'a moment at which nothing changed', 5_000)

      const scraped = await scrape()
      const shown = ssOf(port)

      expect(shown.ends).to.equal(4)
      expect(shown.bytes_sent).to.be.at.least(2 * (1_000 + 100_000))
      expect(scraped['libp2p_tcp_bytes_total{kind="sent"}']).to.equal(shown.bytes_sent)
      expect(scraped['libp2p_tcp_bytes_total{kind="received"}']).to.equal(shown.bytes_received)
      expect(scraped['libp2p_tcp_bytes_total{kind="retransmitted"}']).to.equal(shown.bytes_retrans)
      expect(scraped['libp2p_tcp_segments_total{kind="sent"}']).to.equal(shown.segs_out)
      expect(scraped['libp2p_tcp_segments_total{kind="received"}']).to.equal(shown.segs_in)
    })
  }

  itIf(hasSs)('have the smoothed round trip, the window and what is unsent of each connection, as ss shows them', async () => {
    const { dial, listen, scrape } = measured()
    const { addr, port, next } = await listen()
    const dialer = await dial(addr)
    const acceptor = await next()

    // the peer reads nothing, so that data waits in the kernel
    acceptor.pause()
    dialer.send(new Uint8Array(16 * 1024 * 1024))
    const sums = ['libp2p_tcp_unsent_bytes', 'libp2p_tcp_congestion_window_bytes', 'libp2p_tcp_round_trip_seconds', 'libp2p_tcp_connection_age_seconds']
    let before = await scrape()
    let shown = ssOf(port)

    // a probe of the full window may change them in between
    await until(async () => {
      const scraped = await scrape()
      const again = ssOf(port)
      const isQuiet = shown.notsent > 0 && JSON.stringify(shown) === JSON.stringify(again)

      if (isQuiet) {
        const [unsent, window, roundTrip, age] = sums.map(name => scraped[`${name}_sum`] - before[`${name}_sum`])

        expect(unsent).to.equal(shown.notsent)
        expect(window).to.equal(shown.window)
        // ss prints ms
        expect(roundTrip * 1_000).to.be.closeTo(shown.rtt, 0.01)
        expect(age).to.be.within(0, 60)
        expect(sums.map(name => scraped[`${name}_count`] - before[`${name}_count`])).to.deep.equal([2, 2, 2, 2])
      }

      before = scraped
      shown = again

      return isQuiet
    }, 'a moment at which nothing changed', 10_000)
  })

  it('count each byte once, however often they are scraped, and keep what closed connections had', async () => {
    const { dial, listen, scrape } = measured()
    const { addr, next } = await listen()
    const dialer = await dial(addr)
    const acceptor = await next()
    await exchange(dialer, acceptor, 5_000)

    await scrape()
    await scrape()
    expect((await scrape())['libp2p_tcp_bytes_total{kind="received"}']).to.equal(10_000)

    await exchange(dialer, acceptor, 500)
    expect((await scrape())['libp2p_tcp_bytes_total{kind="received"}']).to.equal(11_000)

    await Promise.all([dialer.close(), acceptor.close()])
    await until(async () => (await scrape())['libp2p_tcp_sockets{state="open"}'] === 0, 'both are closed')
    expect((await scrape())['libp2p_tcp_bytes_total{kind="received"}']).to.equal(11_000)
  })

  it('are of the right socket where a descriptor was used again', async () => {
    const { dial, listen, scrape } = measured()
    const { addr, next } = await listen()
    let received = 0

    for (let i = 1; i <= 5; i++) {
      const dialer = await dial(addr)
      const acceptor = await next()

      await exchange(dialer, acceptor, i * 1_000)
      received += 2 * i * 1_000
      expect((await scrape())['libp2p_tcp_bytes_total{kind="received"}']).to.equal(received)
      dialer.abort(new Error('Enough'))
      acceptor.abort(new Error('Enough'))
    }
  })

  it(`are read in turns if there are more than ${MAX_READ} sockets`, async () => {
    const { dial, listen, scrape } = measured({ backlog: 1_000 })
    const { addr, accepted } = await listen()
    const dialed = MAX_READ / 2 + 50

    for (let i = 0; i < dialed; i++) {
      const maConn = await dial(addr)
      maConn.send(Uint8Array.of(1))
    }

    await until(() => accepted.length === dialed, 'all are accepted')

    for (const expected of [MAX_READ, 2 * MAX_READ]) {
      const scraped = await scrape()
      expect(scraped['libp2p_tcp_sockets{state="open"}']).to.equal(2 * dialed)
      expect(scraped['libp2p_tcp_sockets{state="read"}']).to.equal(MAX_READ)
      expect(scraped.libp2p_tcp_unsent_bytes_count).to.equal(expected)
    }

    // each connection has received its byte, and was asked for by now
    expect((await scrape())['libp2p_tcp_bytes_total{kind="received"}']).to.equal(dialed)
  })

  it('leave unix sockets out', async () => {
    const { dial, listen, scrape } = measured()
    const { addr, next } = await listen(`/unix/${encodeURIComponent(`/tmp/kernel-metrics-${process.pid}.sock`)}`)

    await dial(addr)
    await next()

    const scraped = await scrape()
    expect(scraped['libp2p_tcp_sockets{state="open"}']).to.equal(2)
    expect(scraped['libp2p_tcp_sockets{state="read"}']).to.equal(0)
  })

  it('work where calculated values replace, as simple-metrics does', async () => {
    const groups: Record<string, { values: Record<string, number>, calculate?(): Record<string, number> }> = {}
    const registerGroup = (name: string, options: any): any => {
      const group: typeof groups[string] = groups[name] = { values: {}, calculate: options.calculate }

      return { increment (by: Record<string, number>) { Object.entries(by).forEach(([key, value]) => { group.values[key] = (group.values[key] ?? 0) + value }) }, update () {} }
    }
    const metrics = { registerMetricGroup: registerGroup, registerCounterGroup: registerGroup, registerHistogram: () => ({ observe () {} }) } as unknown as Metrics
    const { dial, listen } = rawTransport(defer, { linux: linux() }, { metrics })
    const { addr, next } = await listen()

    await exchange(await dial(addr), await next(), 700)
    expect(groups.libp2p_tcp_sockets.calculate?.()).to.deep.equal({ open: 2, read: 2 })
    expect(groups.libp2p_tcp_bytes_total.values).to.deep.equal({ sent: 1_400, retransmitted: 0, received: 1_400 })
    expect(groups.libp2p_tcp_bytes_total.calculate).to.equal(undefined)
  })
})
