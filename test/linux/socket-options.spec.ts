import { readFileSync } from 'node:fs'
import os from 'node:os'
import { expect } from 'aegir/chai'
import { LinuxUnavailableError, linux } from '../../src/linux/index.ts'
import { TCP_KEEPCNT, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_NOTSENT_LOWAT, TCP_USER_TIMEOUT } from '../../src/linux/libc.ts'
import { reusePort } from '../../src/nat/index.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { itIf, skipUnless } from '../fixtures/skip.ts'
import { canUseLinux, skipped } from './fixtures/availability.ts'
import type { KernelSocket } from './fixtures/sockets.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { LinuxInit } from '../../src/linux/index.ts'

const available = canUseLinux ? readFileSync('/proc/sys/net/ipv4/tcp_available_congestion_control', 'utf8').trim().split(/\s+/) : []
const system = canUseLinux ? readFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8').trim() : ''
const MAX_INT = 2 ** 31 - 1

describe(`socket options of linux()${skipped(canUseLinux)}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(canUseLinux)

  async function connected (init: LinuxInit, ma: string, options: TCPOptions = {}): Promise<{ dialed: KernelSocket, accepted: KernelSocket }> {
    // it needs libc, which not every system has
    const { pairAt } = await import('./fixtures/sockets.ts')
    const { dial, listen } = rawTransport(defer, { ...options, linux: linux(init) })
    const { addr, port, next } = await listen(ma)

    await dial(addr)
    await next()

    return pairAt(port)
  }

  async function expectAtBothEnds (init: LinuxInit, name: number, value: number, ma = '/ip4/127.0.0.1/tcp/0', options?: TCPOptions): Promise<void> {
    const { intOption } = await import('./fixtures/sockets.ts')
    const { dialed, accepted } = await connected(init, ma, options)

    expect(intOption(dialed, name)).to.equal(value, 'dialed')
    expect(intOption(accepted, name)).to.equal(value, 'accepted')
  }

  const addresses = ['/ip4/127.0.0.1/tcp/0', '/ip6/::1/tcp/0']

  for (const ma of addresses) {
    it(`the low-water mark for unsent data is 32 KiB by default, dialed and accepted: ${ma}`, async () => {
      await expectAtBothEnds({}, TCP_NOTSENT_LOWAT, 32_768, ma)
    })

    it(`every option holds for dialed and accepted sockets: ${ma}`, async () => {
      const { congestionOf, intOption } = await import('./fixtures/sockets.ts')
      const algorithm = available.find(name => name !== system) ?? system
      const pair = await connected({ unsentLowWater: 16_384, congestion: algorithm, userTimeout: 12_345, keepAliveDelay: 20_000, keepAliveInterval: 6_500, keepAliveProbes: 3 }, ma)

      for (const socket of [pair.dialed, pair.accepted]) {
        expect(intOption(socket, TCP_NOTSENT_LOWAT)).to.equal(16_384)
        expect(congestionOf(socket)).to.equal(algorithm)
        expect(intOption(socket, TCP_USER_TIMEOUT)).to.equal(12_345)
        expect(intOption(socket, TCP_KEEPIDLE)).to.equal(20)
        expect(intOption(socket, TCP_KEEPINTVL)).to.equal(7)
        expect(intOption(socket, TCP_KEEPCNT)).to.equal(3)
      }
    })

    itIf(canReusePort)(`they hold with reusePort too: ${ma}`, async () => {
      await expectAtBothEnds({ unsentLowWater: 16_384 }, TCP_NOTSENT_LOWAT, 16_384, ma, { reusePort: reusePort() })
    })
  }

  it('a low-water mark of Infinity is none, whatever the system says', async () => {
    await expectAtBothEnds({ unsentLowWater: Infinity }, TCP_NOTSENT_LOWAT, MAX_INT)
  })

  it('a fraction of a byte counts as one', async () => {
    await expectAtBothEnds({ unsentLowWater: 0.5 + 1 }, TCP_NOTSENT_LOWAT, 2)
  })

  it('what is not asked for is left as the system has it', async () => {
    const { congestionOf, intOption } = await import('./fixtures/sockets.ts')
    const { dialed, accepted } = await connected({}, addresses[0])

    for (const socket of [dialed, accepted]) {
      expect(congestionOf(socket)).to.equal(system)
      expect(intOption(socket, TCP_USER_TIMEOUT)).to.equal(0)
    }
  })

  for (const host of ['localhost']) {
    it(`a dial to a name has them: ${host}`, async () => {
      const { intOption, pairAt } = await import('./fixtures/sockets.ts')
      const { dial, listen } = rawTransport(defer, { linux: linux() })
      const { port, next } = await listen()

      await dial(`/dns4/${host}/tcp/${port}`)
      await next()
      expect(intOption(pairAt(port).dialed, TCP_NOTSENT_LOWAT)).to.equal(32_768)
    })
  }

  it('a keepAliveInitialDelay, with which Node would reset those of keep-alive, is told', () => {
    for (const options of [{ dialOpts: { keepAliveInitialDelay: 5_000 } }, { listenOpts: { keepAliveInitialDelay: 5_000 } }]) {
      expect(() => rawTransport(defer, { ...options, linux: linux({ keepAliveProbes: 3 }) })).to.throw().with.property('name', 'InvalidParametersError')
      expect(() => rawTransport(defer, { ...options, linux: linux() })).to.not.throw()
    }
  })

  it('unix sockets work as without', async () => {
    const { dial, listen } = rawTransport(defer, { linux: linux({ unsentLowWater: 16_384, userTimeout: 1_000 }) })
    const { addr, next } = await listen(`/unix/${encodeURIComponent(`${os.tmpdir()}/linux-options-${process.pid}.sock`)}`)
    const maConn = await dial(addr)
    const accepted = await next()

    maConn.send(Uint8Array.of(1))
    await maConn.close()
    expect(accepted.status).to.be.oneOf(['open', 'closing', 'closed'])
  })

  describe('that the kernel refuses', () => {
    it('an algorithm that the kernel does not have is told when linux() is called, and those that it has', () => {
      expect(() => linux({ congestion: 'no-such' })).to.throw(LinuxUnavailableError)
        .with.property('message').that.includes('\'no-such\'').and.includes(available.join(', '))
      expect(() => linux({ congestion: 'no-such' })).to.throw().with.property('missing', 'kernel')
    })
  })
})
