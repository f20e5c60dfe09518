import { join } from 'node:path'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { hasUnixSockets, linkLocal, lookupOf, loopback6 } from '../fixtures/machine.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { Socket } from 'node:net'

const zoned = linkLocal()
const withLinkLocal = zoned == null ? ' (SKIPPED: no link-local IPv6 address here)' : ''
const loopback = loopback6()
const withLoopback6 = loopback == null ? ' (SKIPPED: no IPv6 here)' : ''

describe('the address that is dialed', () => {
  const defer = cleanUpAfterEach()

  async function reaches (addr: string, next: () => Promise<Socket>, dialOpts?: TCPOptions['dialOpts']): Promise<Socket> {
    const conn = await rawTransport(defer, { dialOpts }).dial(addr)
    expect(conn.remoteAddr.toString()).to.equal(addr)

    const socket = await next()
    conn.send(Uint8Array.of(1))
    await pEvent(socket, 'data', { timeout: 5_000 })

    return socket
  }

  it('/ip4', async () => {
    const { addr, next } = await rawPeer(defer)
    await reaches(addr, next)
  })

  itIf(loopback != null)(`/ip6${withLoopback6}`, async () => {
    const { addr, next } = await rawPeer(defer, { host: '::1' })
    await reaches(addr, next)
  })

  it('with a peer id behind it', async () => {
    const { addr, next } = await rawPeer(defer)
    await reaches(`${addr}/p2p/12D3KooWCCSMskW88GTUBTYFvtDEuTaBN9oiFvs5LRDHVBRVkcGX`, next)
  })

  itIf(hasUnixSockets, 'unix sockets')('/unix', async () => {
    const { addr, next } = await rawPeer(defer, { path: join(await temporaryDirectory(defer), 'a.sock') })
    await reaches(addr, next)
  })

  it('/dns', async () => {
    const { port, next } = await rawPeer(defer)
    await reaches(`/dns/localhost/tcp/${port}`, next)
  })

  it('fault 5: /dns4 reaches the IPv4 address of a name that has both', async () => {
    const { port, next } = await rawPeer(defer)
    await reaches(`/dns4/both.test/tcp/${port}`, next, { lookup: lookupOf(['::1', '127.0.0.1']) })
  })

  it('fault 5: /dns4 does not reach an IPv6 address', async () => {
    const { port } = await rawPeer(defer, { host: '::' })

    await expect(rawTransport(defer, { dialOpts: { lookup: lookupOf(['::1']) } }).dial(`/dns4/six.test/tcp/${port}`))
      .to.eventually.be.rejected.with.property('code', 'ENOTFOUND')
  })

  itIf(loopback != null)(`fault 5: /dns6 reaches the IPv6 address of a name that has both${withLoopback6}`, async () => {
    const { port, next } = await rawPeer(defer, { host: '::1' })
    await reaches(`/dns6/both.test/tcp/${port}`, next, { lookup: lookupOf(['127.0.0.1', '::1']) })
  })

  it('fault 5: /dns6 does not reach an IPv4 address', async () => {
    const { port } = await rawPeer(defer)

    await expect(rawTransport(defer, { dialOpts: { lookup: lookupOf(['127.0.0.1']) } }).dial(`/dns6/four.test/tcp/${port}`))
      .to.eventually.be.rejected.with.property('code', 'ENOTFOUND')
  })

  itIf(loopback != null)(`/dns reaches whichever address answers${withLoopback6}`, async () => {
    const { port, next } = await rawPeer(defer, { host: '::1' })
    await reaches(`/dns/both.test/tcp/${port}`, next, { lookup: lookupOf(['127.0.0.1', '::1']) })
  })

  itIf(loopback != null)(`/dns reaches the family that the options say${withLoopback6}`, async () => {
    const { port } = await rawPeer(defer)
    const other = await rawPeer(defer, { host: '::1', port })
    await reaches(`/dns/both.test/tcp/${port}`, other.next, { family: 6, lookup: lookupOf(['127.0.0.1', '::1']) })
  })

  itIf(loopback != null)(`/ip6zone of the loopback interface${withLoopback6}`, async () => {
    const { port, next } = await rawPeer(defer, { host: '::1' })
    await reaches(`/ip6zone/${loopback}/ip6/::1/tcp/${port}`, next)
  })

  it(`fault 5: /ip6zone of a link-local address${withLinkLocal}`, async function () {
    if (zoned == null) {
      return this.skip()
    }

    const { port, next } = await rawPeer(defer, { host: `${zoned.address}%${zoned.zone}` })
    await reaches(`/ip6zone/${zoned.zone}/ip6/${zoned.address}/tcp/${port}`, next)
  })
})

describe('a dial that the network refuses', () => {
  const defer = cleanUpAfterEach()

  it('names the address, the code and the cause', async () => {
    const port = await freePort()
    const err = await rawTransport(defer).dial(`/ip4/127.0.0.1/tcp/${port}`).catch(err => err)

    expect(err).to.be.an('error')
    expect(err.message).to.include(`127.0.0.1:${port}`).and.to.include('ECONNREFUSED')
    expect(err).to.have.property('code', 'ECONNREFUSED')
    expect(err).to.have.nested.property('cause.code', 'ECONNREFUSED')
  })

  itIf(hasUnixSockets, 'unix sockets')('names the path of a unix socket', async () => {
    const err = await rawTransport(defer).dial('/unix/%2Fnowhere%2Fa.sock').catch(err => err)

    expect(err.message).to.include('/nowhere/a.sock')
    expect(err).to.have.property('code', 'ENOENT')
    expect(err).to.have.nested.property('cause.code', 'ENOENT')
  })

  it('names the host that has no address', async () => {
    const err = await rawTransport(defer).dial('/dns4/nowhere.invalid/tcp/1234').catch(err => err)

    expect(err.message).to.include('nowhere.invalid:1234')
    expect(err).to.have.property('code').that.is.oneOf(['ENOTFOUND', 'EAI_AGAIN'])
    expect(err).to.have.nested.property('cause.code', err.code)
  })
})
