import { readFileSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { reusePort } from '../../../../src/nat/index.ts'
import { canReusePort } from '../../../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../../../fixtures/cleanup.ts'
import { rawTransport } from '../../../fixtures/raw.ts'
import { skipUnless } from '../../../fixtures/skip.ts'
import { isOwnNetwork } from '../fixtures/own-network.ts'

const RANGE = '/proc/sys/net/ipv4/ip_local_port_range'

describe('while no port is free', () => {
  const defer = cleanUpAfterEach()

  skipUnless(isOwnNetwork && canReusePort)

  it('a transport with reusePort is made, says EADDRINUSE where it listens, and listens later', async () => {
    const range = readFileSync(RANGE)
    writeFileSync(RANGE, '41000 41001')
    defer(() => { writeFileSync(RANGE, range) })
    const servers = [41_000, 41_001].map(port => net.createServer().listen(port, '0.0.0.0'))
    defer(() => { servers.forEach(server => { server.close() }) })
    await Promise.all(servers.map(async server => pEvent(server, 'listening')))

    const { listen } = rawTransport(defer, { reusePort: reusePort() })
    await expect(listen()).to.eventually.be.rejected.with.property('code', 'EADDRINUSE')
    servers[0].close()
    await expect(listen()).to.eventually.have.property('port', 41_000)
  })
})
