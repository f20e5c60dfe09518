import net from 'node:net'
import os from 'node:os'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { ordinary } from '../../src/dial/connect.ts'
import { LinuxConnector } from '../../src/linux/dial.ts'
import { linux } from '../../src/linux/index.ts'
import { listenWithOptions } from '../../src/linux/listen.ts'
import { loadLibc } from '../../src/linux/load-libc.ts'
import { commonOptions, fastOpenListen } from '../../src/linux/socket-options.ts'
import { Recent } from '../../src/recent.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import { canDial, skipped } from './fixtures/availability.ts'
import { expectNoLeak, socketDescriptors } from './fixtures/descriptors.ts'
import { failingLibc } from './fixtures/failing-libc.ts'
import type { Libc } from '../../src/linux/libc.ts'

const { ENOMEM, EMFILE, EADDRINUSE, EOPNOTSUPP, ENOPROTOOPT } = os.constants.errno

const DIALED = commonOptions({ unsentLowWater: 32_768 })
const LISTENING = [...fastOpenListen(16), ...DIALED]

function connectorOf (libc: Libc): LinuxConnector {
  return new LinuxConnector({ assertChecked () {}, libc, below: ordinary, options: DIALED, hasFastOpen: true, blackHoles: new Recent<true>(10, Infinity) })
}

const waits: Record<string, () => unknown> = {
  'at once': () => {},
  'after a microtask': async () => Promise.resolve(),
  'after two microtasks': async () => {
    await Promise.resolve()
    await Promise.resolve()
  },
  'after a tick': async () => new Promise<void>(resolve => { process.nextTick(resolve) }),
  'after a turn': async () => new Promise(resolve => { setImmediate(resolve) }),
  'after two turns': async () => {
    await new Promise(resolve => { setImmediate(resolve) })
    await new Promise(resolve => { setImmediate(resolve) })
  }
}

describe(`file descriptors of linux()${skipped(canDial)}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(canDial)

  describe('of a dial', () => {
    const failures = [['socket', 1, EMFILE], ['setOption', 1, EOPNOTSUPP], ['setOption', 1, ENOPROTOOPT], ['getOption', 1, ENOMEM]] as const

    for (const [call, nth, errno] of failures) {
      it(`are closed, and the dial goes on in the ordinary way, where ${call} fails with ${-errno}`, async () => {
        const { port, next } = await rawPeer(defer)

        await expectNoLeak(async () => {
          const connector = connectorOf(failingLibc(call, nth, errno))
          const { socket, established } = await connector.open({ host: '127.0.0.1', port, family: 4 }, {}, new AbortController().signal, { port: 'any', fastOpen: true })

          socket.write('.')
          const accepted = await next()
          established?.end()
          socket.destroy()
          accepted.destroy()
        })
      })
    }

    const invalid: Record<string, object> = {
      'the socket takes them': { keepAliveInitialDelay: 'soon' },
      'it connects': { localAddress: 'nowhere' }
    }

    for (const [when, options] of Object.entries(invalid)) {
      it(`are closed where options turn out to be invalid when ${when}`, async () => {
        const { port } = await rawPeer(defer)
        const connector = connectorOf(loadLibc())

        await expectNoLeak(async () => {
          await expect(connector.open({ host: '127.0.0.1', port, family: 4 }, options, new AbortController().signal, { port: 'any', fastOpen: true }))
            .to.eventually.be.rejected.with.property('name', 'InvalidParametersError')
        })
      })
    }

    it('are closed where it is refused', async () => {
      const port = await freePort()

      await expectNoLeak(async () => {
        const { dial } = rawTransport(defer, { linux: linux({ fastOpen: true }) })

        await expect(dial(`/ip4/127.0.0.1/tcp/${port}`)).to.eventually.be.rejected.with.property('code', 'ECONNREFUSED')
      })
    })

    for (const [phase, wait] of Object.entries(waits)) {
      it(`are closed where it is aborted ${phase}`, async () => {
        const { addr } = await rawPeer(defer, { allowHalfOpen: false, onSocket (socket) { socket.resume() } })
        const { dial } = rawTransport(defer, { linux: linux({ fastOpen: true }) })

        const abortOne = async (): Promise<void> => {
          const controller = new AbortController()
          const dialed = dial(addr, { signal: controller.signal }).then(maConn => { maConn.abort(new Error('Too late')) }, () => {})

          await wait()
          controller.abort()
          await dialed
        }

        for (let i = 0; i < 20; i++) {
          await expectNoLeak(abortOne)
        }
      })
    }
  })

  describe('of a listener', () => {
    const steps = [
      ['socket', 1, EMFILE], ['setOption', 1, ENOMEM], ['setOption', 2, ENOMEM], ['setOption', 3, ENOMEM], ['setOption', 4, ENOMEM], ['setOption', 5, ENOMEM],
      ['bind', 1, EADDRINUSE], ['listen', 1, EADDRINUSE]
    ] as const

    for (const [call, nth, errno] of steps) {
      it(`are closed, and the server tells the error, where ${call} fails for the ${nth}th time`, async () => {
        await expectNoLeak(async () => {
          const server = net.createServer()
          const error = pEvent(server, 'error', { timeout: 2_000 })

          listenWithOptions(failingLibc(call, nth, errno), LISTENING, server, { host: '::1', port: 0, ipv6Only: true, reusePort: true })
          await expect(error).to.eventually.be.an('error').with.property('errno', -errno)
        })
      })
    }

    it('are closed when the server is', async () => {
      await expectNoLeak(async () => {
        const server = net.createServer()
        const listening = pEvent(server, 'listening')

        listenWithOptions(loadLibc(), LISTENING, server, { host: '127.0.0.1', port: 0 })
        await listening
        server.close()
        await pEvent(server, 'close')
      })
    })

    it('are closed where the server listens already', async () => {
      const { server } = await rawPeer(defer)
      const { address, port } = server.address() as net.AddressInfo

      await expectNoLeak(() => {
        expect(() => { listenWithOptions(loadLibc(), LISTENING, server, { host: '127.0.0.1', port: 0 }) }).to.throw()
      })

      expect(server.address()).to.deep.include({ address, port })
    })

    it('tells that an address is in use in the words of Node', async () => {
      const { port } = await rawPeer(defer)
      const words = await Promise.all([undefined, linux({ fastOpen: true })].map(async linux => rawTransport(defer, { linux }).listen(`/ip4/127.0.0.1/tcp/${port}`).catch(err => err)))

      expect(words[0]).to.have.property('code', 'EADDRINUSE')
      expect({ ...words[1] }).to.deep.equal({ ...words[0] })
      expect(words[1].message).to.equal(words[0].message)
    })
  })

  it('are none more after a listener paused and listened again ten times', async () => {
    const closeServerOnMaxConnections = { listenBelow: 1, closeAbove: 1 }
    const { listen, dial } = rawTransport(defer, { linux: linux({ fastOpen: true }), closeServerOnMaxConnections })
    const { addr, listener, next } = await listen()

    await expectNoLeak(async () => {
      for (let i = 0; i < 10; i++) {
        const maConn = await dial(addr)

        await next()
        await until(() => listener.getAddrs().length === 0, 'it has paused')
        await maConn.close()
        await until(() => listener.getAddrs().length === 1, 'it listens again')
      }
    })

    expect(listener.getAddrs()[0].toString()).to.equal(addr.toString())
    expect(socketDescriptors()).to.be.greaterThan(0)
  })
})
