import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { within } from '../fixtures/waiting.ts'
import type { Logger, Metrics } from '@libp2p/interface'

/** A logger with state of its own */
class CountingLogger {
  #lines = 0

  static create (): Logger {
    const counting = new CountingLogger()

    // the type asks for a function, and libp2p calls it
    return Object.setPrototypeOf(Object.assign(() => { counting.trace() }, { enabled: true, counting }), ThisLogger)
  }

  trace (): void {
    this.#lines++
  }
}

/** Its methods need their `this` */
const ThisLogger = Object.assign(Object.create(Function.prototype), {
  error (this: { counting: CountingLogger }) { this.counting.trace() },
  trace (this: { counting: CountingLogger }) { this.counting.trace() },
  newScope: () => CountingLogger.create()
})

describe('loggers and metrics of others', () => {
  const defer = cleanUpAfterEach()

  it('are called with their `this`', async () => {
    const { addr, next } = await rawPeer(defer)
    const conn = await rawTransport(defer, {}, { logger: { forComponent: () => CountingLogger.create() } }).dial(addr)
    const socket = await next()

    conn.send(Uint8Array.of(1, 2, 3))
    expect(await pEvent(socket, 'data', { timeout: 5_000 })).to.have.lengthOf(3)
  })

  it('end no process at the FIN of the peer', async () => {
    const { addr, next } = await rawPeer(defer)
    const child = runChild(defer, 'throwing-trace.ts', [addr])
    const socket = await next()

    expect(await child.says()).to.equal('dialed')
    socket.resume().end()
    expect(await child.says()).to.equal('closed')
    expect(await child.exited).to.equal(0)
  })

  it('leave no socket where a dial fails for them', async () => {
    const { addr, next } = await rawPeer(defer)
    const metrics: Metrics = {
      ...counters().metrics,
      registerCounterGroup: () => ({
        increment: () => { throw new Error('Urk!') },
        reset: () => {}
      })
    }
    const { dial } = rawTransport(defer, {}, { metrics })

    await expect(within(2_000, 'the dial', dial(addr))).to.eventually.be.rejectedWith('Urk!')
    await pEvent((await next()).resume(), 'end', { timeout: 2_000 })
  })
})
