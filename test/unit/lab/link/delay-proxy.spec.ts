import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { delayProxy } from '../../../lab/link/delay-proxy.ts'
import type { DelayProxy } from '../../../lab/link/delay-proxy.ts'

/** In ms */
const DELAY = 40

/** Of several, one is not held up by the machine */
const TRIES = 3

/**
 * That the quickest of some tries, in ms, takes so many delays, and not one more.
 */
async function expectDelays (delays: number, attempt: () => Promise<number>): Promise<void> {
  const times: number[] = []

  while (times.length < TRIES) {
    times.push(await attempt())
  }

  expect(Math.min(...times)).to.be.within(delays * DELAY - 2, (delays + 1) * DELAY)
}

describe('benchmarks: delay proxy', () => {
  const open: Array<() => void> = []
  const proxies: DelayProxy[] = []

  afterEach(async () => {
    open.splice(0).forEach(close => { close() })
    await Promise.all(proxies.splice(0).map(async proxy => proxy.close()))
  })

  /**
   * A dialer and the socket that the target accepted for it
   */
  async function connected (allowHalfOpen = true): Promise<{ dialer: net.Socket, accepted: net.Socket, dialedAt: number }> {
    const server = net.createServer({ allowHalfOpen })
    server.listen(0, '127.0.0.1')
    await pEvent(server, 'listening')
    open.push(() => server.close())

    const proxy = await delayProxy({ target: { host: '127.0.0.1', port: (server.address() as net.AddressInfo).port }, delay: DELAY })
    proxies.push(proxy)

    const dialedAt = performance.now()
    const dialer = net.connect({ host: proxy.host, port: proxy.port, allowHalfOpen })
    const accepted = await pEvent<'connection', net.Socket>(server, 'connection')
    open.push(() => dialer.destroy(), () => accepted.destroy())

    return { dialer, accepted, dialedAt }
  }

  it('shows the connection to the target one delay after the dial', async () => {
    await expectDelays(1, async () => {
      const { dialedAt } = await connected()

      return performance.now() - dialedAt
    })
  })

  it('holds a chunk back in each direction', async () => {
    const { dialer, accepted } = await connected()
    accepted.pipe(accepted)

    await expectDelays(2, async () => {
      const start = performance.now()
      dialer.write('x')
      await pEvent(dialer, 'data')

      return performance.now() - start
    })
  })

  it('passes a half-close on late and leaves the other direction open', async () => {
    await expectDelays(1, async () => {
      const { dialer, accepted } = await connected()
      accepted.resume()

      const start = performance.now()
      dialer.end()
      await pEvent(accepted, 'end')
      const time = performance.now() - start

      accepted.end('still here')
      const [data] = await Promise.all([
        pEvent<'data', Buffer>(dialer, 'data'),
        pEvent(dialer, 'end')
      ])
      expect(data.toString()).to.equal('still here')

      return time
    })
  })

  it('passes a reset on', async () => {
    const { dialer, accepted } = await connected()

    accepted.resetAndDestroy()
    const error = await pEvent<'error', NodeJS.ErrnoException>(dialer, 'error', { rejectionEvents: [] })

    expect(error).to.have.property('code', 'ECONNRESET')
  })

  it('resets the dialer when nothing listens at the target', async () => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await pEvent(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    server.close()
    await pEvent(server, 'close')

    const proxy = await delayProxy({ target: { host: '127.0.0.1', port }, delay: DELAY })
    proxies.push(proxy)
    const dialer = net.connect(proxy.port, proxy.host)
    const error = await pEvent<'error', NodeJS.ErrnoException>(dialer, 'error', { rejectionEvents: [] })

    expect(error).to.have.property('code', 'ECONNRESET')
  })

  it('delivers every byte in order to a slow reader before the FIN', async () => {
    const { dialer, accepted } = await connected()
    const sent = Buffer.alloc(24 * 1024 * 1024)

    for (let i = 0; i < sent.byteLength; i++) {
      sent[i] = i % 251
    }

    dialer.end(sent)

    const received: Buffer[] = []
    accepted.on('data', chunk => {
      received.push(chunk)

      if (received.length % 50 === 0) {
        accepted.pause()
        setTimeout(() => accepted.resume(), 1)
      }
    })
    await pEvent(accepted, 'end')

    expect(Buffer.concat(received).equals(sent)).to.be.true()
  })

  it('closes what is open', async () => {
    const { dialer } = await connected(false)
    dialer.on('error', () => {})

    await Promise.all([
      pEvent(dialer, 'close'),
      proxies[0].close()
    ])
    await proxies[0].close()
  })
})
