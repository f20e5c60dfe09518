import { join } from 'node:path'
import { expect } from 'aegir/chai'
import { cleanUpAfterAll, cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'
import { openSockets, until } from '../fixtures/waiting.ts'
import { dialer } from './fixtures/dialer.ts'
import { NA } from './fixtures/proposals.ts'
import { remote, reply } from './fixtures/remote.ts'
import { ECHO, echo, firstByte } from './fixtures/stacks.ts'
import type { Dialer } from './fixtures/dialer.ts'

describe('two nodes that dial each other', () => {
  const defer = cleanUpAfterEach()
  const deferToEnd = cleanUpAfterAll()
  let dir: string

  before(async () => {
    dir = await temporaryDirectory(deferToEnd)
  })

  async function listening (addr: string): Promise<Dialer & { addr: string }> {
    const made = await dialer(defer, { addresses: { listen: [addr] } })
    await made.node.handle(ECHO, echo, { maxInboundStreams: 100, maxOutboundStreams: 100 })

    return { ...made, addr: made.node.getMultiaddrs()[0].toString() }
  }

  const transports: Record<string, () => string> = {
    'over TCP': () => '/ip4/127.0.0.1/tcp/0',
    'over IPv6': () => '/ip6/::1/tcp/0',
    'over unix sockets': () => `/unix/${encodeURIComponent(join(dir, `${Math.random()}.sock`))}`
  }

  for (const [name, addr] of Object.entries(transports)) {
    it(`at once ${name}, end up with a connection each way that works`, async () => {
      const one = await listening(addr())
      const other = await listening(addr())

      for (let round = 0; round < 10; round++) {
        const connections = await Promise.all([one.dial(other.addr), other.dial(one.addr)])

        for (const connection of connections) {
          expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
        }
      }

      expect(one.counted()).to.deep.equal({ accepted: 10 })
      expect(other.counted()).to.deep.equal({ accepted: 10 })
    })
  }

  it('many times over at once, lose nothing', async () => {
    const one = await listening('/ip4/127.0.0.1/tcp/0')
    const other = await listening('/ip4/127.0.0.1/tcp/0')
    const before = openSockets()

    const connections = await Promise.all(Array.from({ length: 40 }, async (_, i) => {
      return i % 2 === 0 ? one.dial(other.addr) : other.dial(one.addr)
    }))

    for (const connection of connections) {
      expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    }

    await Promise.all(connections.map(async connection => connection.close()))
    await until(() => openSockets() <= before, 'all sockets are closed')
  })

  it('over a unix socket that refuses, dial twice', async () => {
    const { addr, left, visits } = await remote(defer, [reply(NA)], { path: join(dir, 'refuses.sock') })
    const { dial, progress } = await dialer(defer)

    await expect(dial(addr)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')
    await left()
    expect(visits).to.have.lengthOf(2)
    expect(progress).to.deep.equal(['tcp:open-connection', 'tcp:redial', 'tcp:open-connection'])
  })

  it('over a unix socket that is closed before the reply, dial twice', async () => {
    const { addr, left, visits } = await remote(defer, [reply(new Uint8Array(), 'FIN')], { path: join(dir, 'closes.sock') })
    const { dial } = await dialer(defer)

    await expect(dial(addr)).to.eventually.be.rejected()
    await left()
    expect(visits).to.have.lengthOf(2)
  })
})
