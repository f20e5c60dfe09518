import { getEventListeners } from 'node:events'
import net from 'node:net'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { until, within } from '../fixtures/waiting.ts'
import type { Defer } from '../fixtures/cleanup.ts'

/**
 * The signals on which somebody listens from now on
 */
function watchSignals (defer: Defer): Set<AbortSignal> {
  const signals = new Set<AbortSignal>()

  AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...args: Parameters<EventTarget['addEventListener']>) {
    signals.add(this)
    EventTarget.prototype.addEventListener.apply(this, args)
  }
  // what it inherits
  defer(() => Reflect.deleteProperty(AbortSignal.prototype, 'addEventListener'))

  return signals
}

describe('fault 4: a listener that pauses above a number of connections', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  async function answers (port: number): Promise<boolean> {
    const socket = net.connect({ host: '127.0.0.1', port })

    return new Promise(resolve => {
      socket.on('connect', () => { resolve(true) })
      socket.on('error', () => { resolve(false) })
    }).finally(() => { socket.destroy() }) as Promise<boolean>
  }

  async function untilPaused (port: number): Promise<void> {
    await until(async () => !(await answers(port)), 'the listener pauses')
  }

  async function untilResumed (port: number): Promise<void> {
    await until(async () => answers(port), 'the listener answers again', 5_000)
  }

  it('keeps its port over 50 cycles, and gathers no listeners', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => { warnings.push(warning) }
    process.on('warning', onWarning)
    defer(() => process.off('warning', onWarning))

    const signals = watchSignals(defer)
    const events: string[] = []
    const { listener, port } = await rawTransport(defer, {
      closeServerOnMaxConnections: { closeAbove: 1, listenBelow: 1 }
    }).listen()
    const before = listener.getAddrs().map(String)
    listener.addEventListener('close', () => { events.push('close') })
    listener.addEventListener('error', () => { events.push('error') })

    for (let i = 0; i < 50; i++) {
      const listening = pEvent(listener, 'listening', { timeout: 5_000 })
      const socket = await rawClient(defer, port)
      socket.resume().end()
      await listening

      expect(listener.getAddrs().map(String)).to.deep.equal(before)
    }

    expect(events).to.be.empty()
    expect(warnings.map(({ name }) => name)).to.not.include('MaxListenersExceededWarning')
    // Node has no such warning for signals
    expect(Math.max(...[...signals].map(signal => getEventListeners(signal, 'abort').length))).to.be.below(10)
  })

  it('refuses connections while it is paused', async () => {
    const { port, next } = await rawTransport(defer, {
      closeServerOnMaxConnections: { closeAbove: 2, listenBelow: 1 }
    }).listen()
    const sockets = [await rawClient(defer, port), await rawClient(defer, port)]
    await Promise.all([next(), next()])
    await untilPaused(port)

    // still one, which is not below one
    const closed = readAll(sockets[0])
    sockets[0].end()
    await closed
    expect(await answers(port)).to.equal(false)

    sockets[1].resume().end()
    await untilResumed(port)
  })

  it('answers after 10 failed upgrades while it was paused', async () => {
    const failing = Promise.withResolvers<void>()
    const upgrades: unknown[] = []
    const { port } = await rawTransport(defer, {
      closeServerOnMaxConnections: { closeAbove: 11, listenBelow: 5 }
    }).listen('/ip4/127.0.0.1/tcp/0', {
      async onInbound (maConn) {
        // the last one succeeds, the others wait
        if (upgrades.push(maConn) < 11) {
          await failing.promise
        }
      }
    })

    const sockets: net.Socket[] = []

    for (let i = 0; i < 11; i++) {
      sockets.push(await rawClient(defer, port))
      await until(() => upgrades.length > i, 'the upgrade begins')
    }

    await untilPaused(port)
    sockets[10].resume().end()
    await pEvent(sockets[10], 'close')
    failing.reject(new Error('Urk!'))

    await untilResumed(port)
  })

  it('answers after connections that died during the upgrade', async () => {
    const upgrading = Promise.withResolvers<void>()
    let upgrades = 0
    const { port } = await rawTransport(defer, {
      closeServerOnMaxConnections: { closeAbove: 3, listenBelow: 3 }
    }).listen('/ip4/127.0.0.1/tcp/0', {
      async onInbound () {
        if (++upgrades < 3) {
          await upgrading.promise
        }
      }
    })

    const dying = [await rawClient(defer, port), await rawClient(defer, port)]
    await until(() => upgrades === 2, 'both upgrades begin')
    const last = await rawClient(defer, port)
    await until(() => upgrades === 3, 'the third upgrade begins')
    await untilPaused(port)

    // the upgrade does not notice, and succeeds
    dying.forEach(socket => { socket.resetAndDestroy() })
    await Promise.all(dying.map(async socket => pEvent(socket, 'close')))
    last.resume().end()
    await pEvent(last, 'close')
    upgrading.resolve()

    await untilResumed(port)
  })

  /** Somebody else listens at the port, until the returned function is called */
  async function take (port: number): Promise<() => Promise<unknown>> {
    const { server } = await rawPeer(defer, { port })

    return async () => pEvent(server.close(), 'close')
  }

  it('keeps the process alive while another one has its port', async () => {
    const child = runChild(defer, 'listen-again.ts')
    const port: number = await child.says()
    const socket = await rawClient(defer, port)
    await untilPaused(port)

    const giveBack = await take(port)
    socket.resume().end()
    expect(await child.says()).to.equal('failed')

    await giveBack()
    await untilResumed(port)
  })

  it('tells when another process has taken its port, and answers when it has it back', async () => {
    const failures: Array<Error & { code?: string }> = []
    const { port, next } = await rawTransport(defer, {
      closeServerOnMaxConnections: {
        closeAbove: 1,
        listenBelow: 1,
        onListenError: (err) => {
          failures.push(err)
          throw new Error('A callback that throws must not end the process')
        }
      }
    }).listen()
    const socket = await rawClient(defer, port)
    await next()
    await untilPaused(port)

    const giveBack = await take(port)
    socket.resume().end()
    await until(() => failures.length > 0, 'the error is told')
    expect(failures[0]).to.have.property('code', 'EADDRINUSE')

    await giveBack()
    await untilResumed(port)
  })

  it('can be closed while it is paused', async () => {
    const { listener, port, next } = await rawTransport(defer, {
      closeServerOnMaxConnections: { closeAbove: 1, listenBelow: 1 }
    }).listen()
    const received = readAll(await rawClient(defer, port))
    await next()
    await untilPaused(port)

    await within(2_000, 'close()', listener.close())
    await received
    expect(await answers(port)).to.equal(false)
    expect(listener.getAddrs()).to.be.empty()
  })

  it('does not accept contradictory limits', () => {
    // ours says so when the transport is created
    const listen = (): unknown => rawTransport(defer, {
      closeServerOnMaxConnections: { closeAbove: 5, listenBelow: 6 }
    }).transport.createListener({ upgrader: {} as any })

    expect(listen).to.throw().with.property('name', 'InvalidParametersError')
  })
})
