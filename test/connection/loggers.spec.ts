import { enable } from '@libp2p/logger'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { safeLog, spareScope } from '../../src/safe-logger.ts'
import { MiB, turns } from '../fixtures/bytes.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { freePort } from '../fixtures/free-port.ts'
import { collectGarbage } from '../fixtures/garbage.ts'
import { logLines } from '../fixtures/log-lines.ts'
import { hasSilence } from '../fixtures/machine.ts'
import { createNode, ECHO } from '../fixtures/node.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, within } from '../fixtures/waiting.ts'
import { fullBacklog } from '../fixtures/workers.ts'
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

/** What an application may abort with: the type asks for an error */
const REASONS: Record<string, () => any> = {
  'an error': () => new Error('Urk!'),
  'the reason of AbortSignal.timeout()': () => new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
  'the reason of AbortController.abort()': () => AbortSignal.abort().reason,
  'a frozen error': () => Object.freeze(new Error('Urk!')),
  'a proxy of an error': () => new Proxy(new Error('Urk!'), {}),
  'a proxy that throws': () => new Proxy(new Error('Urk!'), { get: throwing, getPrototypeOf: throwing, has: throwing }),
  'an error that is its own cause': () => {
    const err = new Error('Urk!')
    err.cause = err

    return err
  },
  'errors that hold each other': () => {
    const errors: Error[] = []
    errors.push(...Array.from({ length: 1_000 }, () => new AggregateError([], 'Urk!')), new Error('Urk!'))
    errors.forEach(err => { Object.assign(err, { errors }) })

    return errors[0]
  },
  ...Object.fromEntries(['name', 'message', 'stack', 'errors', 'cause', 'code', 'toString'].flatMap(member => [
    [`an error whose ${member} throws`, () => Object.defineProperty(new Error('Urk!'), member, { get: throwing })],
    [`an error whose ${member} is a symbol`, () => Object.defineProperty(new Error('Urk!'), member, { value: Symbol('Urk!') })],
    [`an error whose ${member} is an object without a prototype`, () => Object.defineProperty(new Error('Urk!'), member, { value: Object.create(null) })]
  ])),
  'an error without a message and a stack': () => Object.assign(new Error(), { stack: undefined }),
  'an error with 10 MiB of text': () => new Error('Urk!'.repeat(2.5 * MiB)),
  'an error with 10 MiB of lines': () => new Error('\n'.repeat(10 * MiB)),
  'an object without a prototype': () => Object.create(null),
  'an object whose toString throws': () => ({ toString: throwing }),
  'a symbol': () => Symbol('Urk!'),
  'a string': () => 'Urk!',
  'a number': () => 4,
  nothing: () => undefined,
  null: () => null
}

function throwing (): never {
  throw new Error('Gotcha!')
}

describe('what is logged changes no outcome', () => {
  const defer = cleanUpAfterEach()

  for (const [name, reason] of Object.entries(REASONS)) {
    it(`of an abort with ${name}`, async () => {
      const { lines, logger } = logLines(defer)
      const { addr } = await rawPeer(defer)
      const conn = await rawTransport(defer, {}, { logger }).dial(addr)
      const error = reason()
      const event = closed(conn)

      conn.abort(error)
      expect(conn.status).to.equal('aborted')
      expect((await event).error === error).to.equal(true, 'the event has the reason')
      expect(lines.filter(line => line.includes('abort with error')).length, 'nothing is logged that has no text').to.equal(name.startsWith('an object') ? 0 : 1)
      expect(Math.max(...lines.map(({ length }) => length))).to.be.below(MiB)
    })
  }

  it('of a dial that fails with the reason of AbortSignal.timeout()', async () => {
    const { lines, logger } = logLines(defer)
    const { dial } = rawTransport(defer, {}, { logger })
    const { addr } = await rawPeer(defer)
    const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError')

    await expect(dial(addr, {
      upgrader: { upgradeOutbound: () => Promise.reject(error) } as any
    })).to.eventually.be.rejected.and.equal(error)
    expect(lines.filter(line => line.includes('error upgrading outbound connection - TimeoutError: The operation was aborted due to timeout'))).to.have.lengthOf(1)
  })

  it('of aborting a stream and its connection with the reason of AbortSignal.timeout()', async () => {
    const { logger } = logLines(defer)
    const [dialer, listener] = await Promise.all([createNode(defer, { logger }), createNode(defer, { logger, listen: true })])
    const connection = await dialer.dial(listener.getMultiaddrs())
    const stream = await connection.newStream(ECHO)
    const signal = AbortSignal.timeout(1)
    await pEvent(signal, 'abort')
    const error = signal.reason

    stream.abort(error)
    expect(stream.status).to.equal('aborted')
    connection.abort(error)
    expect(connection.status).to.equal('aborted')
  })
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

  it('are forgotten where they are off, and made again, by a stream', async () => {
    const { logger, lines } = logLines(defer)
    const parent = logger.forComponent('other')
    const { newScope } = parent
    let scopes = 0

    parent.newScope = name => {
      scopes++

      return newScope(name)
    }

    const log = spareScope(parent, 'outbound:1')

    log('nothing')
    log.error('nothing')
    log.trace('nothing')
    expect(log.enabled).to.not.equal(true)
    expect(scopes).to.equal(1)
    // what was used in a turn is kept until its end
    await turns(1)
    collectGarbage()
    log('nothing')
    expect(scopes).to.equal(2)
    expect(lines).to.be.empty()
    enable('other*')
    expect(log.enabled).to.equal(true)
    log('a line')
    log.error('another')
    log.newScope('mss').error('a third')
    spareScope(log, 'mss')('a fourth')
    expect(lines.map(line => line.slice(line.indexOf('other')))).to.deep.equal(['other:outbound:1 a line', 'other:outbound:1:error another', 'other:outbound:1:mss:error a third', 'other:outbound:1:mss a fourth'])
    expect(spareScope(parent, 'outbound:3').enabled).to.equal(true)
  })

  for (const scope of [undefined, () => {}]) {
    it(`may give a scope that is ${scope == null ? 'none' : 'a bare function'}`, () => {
      const log: any = Object.assign(() => {}, { error () {}, trace () {}, newScope: () => scope })

      for (const made of [safeLog(log).newScope('mss'), spareScope(log, 'mss'), spareScope(safeLog(log), 'mss')]) {
        made('a line')
        made.error('another')
        made.trace('a third')
        made.newScope('more')('a fourth')
      }
    })
  }

  it('change no outcome where metrics throw', async () => {
    const { addr } = await rawPeer(defer)
    const throwing = (): any => ({
      increment: () => { throw new Error('Urk!') },
      update: () => { throw new Error('Urk!') },
      reset: () => {}
    })
    const metrics: Metrics = { ...counters().metrics, registerCounterGroup: throwing, registerMetricGroup: throwing }
    const { dial, listen } = rawTransport(defer, {}, { metrics })
    const { addr: ours, next } = await listen()

    await within(2_000, 'the dial', dial(addr))
    await within(2_000, 'the dial', dial(ours))
    await next()
    await expect(within(2_000, 'the dial', dial(`/ip4/127.0.0.1/tcp/${await freePort()}`))).to.eventually.be.rejected.with.property('code', 'ECONNREFUSED')

    if (hasSilence) {
      const signal = AbortSignal.timeout(50)

      await expect(within(2_000, 'the dial', dial(`/ip4/127.0.0.1/tcp/${await fullBacklog(defer)}`, { signal }))).to.eventually.be.rejected.with.property('name', 'AbortError')
    }
  })
})
