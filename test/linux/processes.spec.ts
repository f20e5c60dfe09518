import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { linux } from '../../src/linux/index.ts'
import { MiB } from '../fixtures/bytes.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { canUseLinux, skipped } from './fixtures/availability.ts'
import { expectNoLeak } from './fixtures/descriptors.ts'

const NOBODY = 65_534
const ROUNDS = 3

describe(`linux() in threads, in workers of a cluster, and for other users${skipped(canUseLinux)}`, function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  skipUnless(canUseLinux)

  function startThread (options: { rounds: number, stays?: boolean }): Worker {
    const worker = new Worker(new URL('../fixtures/children/linux-in-thread.ts', import.meta.url), { workerData: options })
    defer(async () => worker.terminate())

    return worker
  }

  /** What a thread has received when it ends by itself */
  async function inThread (): Promise<number> {
    const worker = startThread({ rounds: ROUNDS })
    let received = 0

    worker.on('message', bytes => { received = bytes })
    expect(await pEvent<string, number>(worker, 'exit')).to.equal(0)

    return received
  }

  it('two worker threads use it while the main thread does, and leave no descriptor', async () => {
    await expectNoLeak(async () => {
      const { dial, listen } = rawTransport(defer, { linux: linux() })
      const { addr, listener, next } = await listen()
      const threads = Promise.all([inThread(), inThread()])
      const dialer = await dial(addr)
      const acceptor = await next()

      expect(await threads).to.deep.equal([2 * ROUNDS * MiB, 2 * ROUNDS * MiB])
      await Promise.all([dialer.close(), acceptor.close()])
      await listener.close()
    })
  })

  it('a thread that is terminated with open sockets leaves no descriptor', async () => {
    await expectNoLeak(async () => {
      const worker = startThread({ rounds: 1, stays: true })

      await pEvent(worker, 'message')
      await worker.terminate()
    })
  })

  it('a worker of a cluster listens by itself, and again on the same port', async () => {
    const child = runChild(defer, 'listen-in-cluster.ts')

    expect(await child.says()).to.equal('from the worker')
    expect(await child.says()).to.equal('from the worker')
    expect(await child.exited).to.equal(0)
  })

  it('an algorithm that the kernel has and does not allow to this user is told when linux() is called, and what is allowed', async function () {
    const algorithms = (which: string): string[] => readFileSync(`/proc/sys/net/ipv4/tcp_${which}_congestion_control`, 'utf8').trim().split(/\s+/)
    const allowed = algorithms('allowed')
    const denied = algorithms('available').find(name => !allowed.includes(name))

    if (denied == null || process.getuid?.() !== 0) {
      this.skip()
    }

    const child = runChild(defer, 'linux-as-nobody.ts', [denied, NOBODY])
    const { name, message, missing } = await child.says()

    expect(name).to.equal('LinuxUnavailableError')
    expect(missing).to.equal('kernel')
    expect(message).to.include(`'${denied}'`).and.include(allowed.join(', ')).and.include('EPERM')
    // root may
    expect(() => linux({ congestion: denied })).to.not.throw()

    const permitted = runChild(defer, 'linux-as-nobody.ts', [allowed[0], NOBODY])
    expect(await permitted.says()).to.deep.equal({})
  })
})
