import { expect } from 'aegir/chai'
import { TCPStalledWriteError } from '../../src/errors.ts'
import { linux } from '../../src/linux/index.ts'
import { MiB, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { within } from '../fixtures/waiting.ts'
import { canUseLinux, skipped } from './fixtures/availability.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

/** More than a kernel with a low-water mark takes for a peer that does not read */
const DATA = payload(2 * MiB)

describe(`close() with a low-water mark, of data that the kernel has not taken yet${skipped(canUseLinux)}`, function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  skipUnless(canUseLinux)

  /** The peer does not read yet */
  async function accepted (options: TCPOptions = {}): Promise<{ maConn: MultiaddrConnection, peer: Socket }> {
    const listener = await rawTransport(defer, { ...options, linux: linux() }).listen()
    const peer = await rawClient(defer, listener.port)

    return { maConn: await listener.next(), peer }
  }

  it('waits for the peer to read, and sends everything', async () => {
    const { maConn, peer } = await accepted()

    maConn.send(DATA)
    const closed = maConn.close()

    // its signal ends the wait alone
    await expect(maConn.close({ signal: AbortSignal.timeout(100) })).to.eventually.be.rejected.with.property('name', 'TimeoutError')
    expect(await within(5_000, 'reading', readAll(peer))).to.deep.equal(tally(DATA))
    peer.end()
    await within(5_000, 'close()', closed)
  })

  it('ends with a TCPStalledWriteError when the peer reads nothing for stalledWriteTimeout', async () => {
    const { maConn, peer } = await accepted({ stalledWriteTimeout: 300 })

    maConn.send(DATA)
    await expect(within(5_000, 'close()', maConn.close())).to.eventually.be.rejectedWith(TCPStalledWriteError)
    expect(maConn.status).to.equal('aborted')
    // it must not take a part for the whole
    expect(await within(5_000, 'reading', readAll(peer))).to.have.property('error', 'ECONNRESET')
  })
})
