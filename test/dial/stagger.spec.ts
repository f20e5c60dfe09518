import { expect } from 'aegir/chai'
import { ATTEMPT_DELAY, MAX_AT_ONCE, MIN_ATTEMPT_DELAY, stagger } from '../../src/dial/stagger.ts'
import { turns } from '../fixtures/bytes.ts'
import { until } from '../fixtures/waiting.ts'

interface Attempt {
  target: string
  signal: AbortSignal
  at: number
  succeed(): void
  fail(message?: string): void
}

/** Attempts that the test ends */
class Attempts {
  readonly all: Attempt[] = []
  readonly discarded: string[] = []

  readonly connect = async (target: string, signal: AbortSignal): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()

    signal.addEventListener('abort', () => { reject(signal.reason) })
    this.all.push({
      target,
      signal,
      at: performance.now(),
      succeed: () => { resolve(target) },
      fail: (message = `${target} refused`) => { reject(Object.assign(new Error(message), { code: message })) }
    })

    return promise
  }

  readonly discard = (target: string): void => { this.discarded.push(target) }

  get targets (): string[] {
    return this.all.map(({ target }) => target)
  }
}

describe('targets that are tried in turn', () => {
  function begin (targets: string[], { signal = new AbortController().signal, delay = 20, patience = 60_000 } = {}): { attempts: Attempts, result: Promise<string> } {
    const attempts = new Attempts()
    const { connect, discard } = attempts
    const result = stagger(targets, { connect, discard, signal, delay, patience })
    result.catch(() => {})

    return { attempts, result }
  }

  it('wait for the first one as long as browsers and Node do', () => {
    expect(ATTEMPT_DELAY).to.equal(250)
  })

  it('are not tried once the first has connected', async () => {
    const { attempts, result } = begin(['a', 'b'], { delay: 50 })
    attempts.all[0].succeed()

    expect(await result).to.equal('a')
    expect(attempts.targets).to.deep.equal(['a'])
  })

  it('follow at once if the one before fails', async () => {
    // not the time that the first attempt reads: a busy machine may stop us before it does
    const start = performance.now()
    const { attempts, result } = begin(['a', 'b'], { delay: 60_000 })
    attempts.all[0].fail()
    await until(() => attempts.all.length === 2, 'b is tried')
    attempts.all[1].succeed()

    expect(await result).to.equal('b')
    // timers are early by less than a millisecond
    expect(attempts.all[1].at - start).to.be.at.least(MIN_ATTEMPT_DELAY - 1)
  })

  it('follow after a while if the one before is silent, which goes on and may still be first', async () => {
    const { attempts, result } = begin(['a', 'b'])
    await until(() => attempts.all.length === 2, 'b is tried')
    expect(attempts.all[0].signal.aborted).to.equal(false)
    attempts.all[0].succeed()

    expect(await result).to.equal('a')
    expect(attempts.all[1].signal.aborted).to.equal(true)
  })

  it('are discarded if they connect in the same moment as the first', async () => {
    const { attempts, result } = begin(['a', 'b'])
    await until(() => attempts.all.length === 2, 'b is tried')
    attempts.all[1].succeed()
    attempts.all[0].succeed()

    expect(await result).to.equal('b')
    await turns(2)
    expect(attempts.discarded).to.deep.equal(['a'])
  })

  it('are tried a few at a time, and the next one when one of them fails', async () => {
    const targets = Array.from({ length: MAX_AT_ONCE + 2 }, (_, i) => `${i}`)
    const { attempts, result } = begin(targets, { delay: 10 })
    await until(() => attempts.all.length === MAX_AT_ONCE, 'as many are tried as may be')
    await turns(50)
    expect(attempts.all).to.have.lengthOf(MAX_AT_ONCE)

    attempts.all[3].fail()
    await until(() => attempts.all.length === MAX_AT_ONCE + 1, 'one more is tried')
    attempts.all[MAX_AT_ONCE].succeed()

    expect(await result).to.equal(`${MAX_AT_ONCE}`)
  })

  it('have each had their time when all of those that were tried are silent, and another one waits', async () => {
    const targets = Array.from({ length: MAX_AT_ONCE + 2 }, (_, i) => `${i}`)
    const { attempts, result } = begin(targets, { delay: 10, patience: 300 })
    await until(() => attempts.all.length === targets.length, 'all are tried')
    const [first, second, third] = attempts.all
    const ninth = attempts.all[MAX_AT_ONCE]
    expect(ninth.at - first.at).to.be.at.least(299)
    expect(first.signal.reason).to.have.property('name', 'TimeoutError')
    expect(second.signal.aborted).to.equal(true)
    // nobody waits for its place
    expect(third.signal.aborted).to.equal(false)
    ninth.fail()
    third.succeed()

    expect(await result).to.equal('2')
    expect(attempts.discarded).to.deep.equal([])
  })

  it('fail when the last of them has, if others were given up for it', async () => {
    const targets = Array.from({ length: MAX_AT_ONCE + 1 }, (_, i) => `${i}`)
    const { attempts, result } = begin(targets, { delay: 10, patience: 50 })
    await until(() => attempts.all.length === targets.length, 'all are tried')
    attempts.all.slice(1).forEach(attempt => { attempt.fail() })

    const err: any = await result.catch(err => err)
    expect(err).to.have.property('code', 'ETIMEDOUT')
    expect(err.errors).to.have.lengthOf(targets.length)
  })

  it('fail with all errors and the code of the first, as in Node', async () => {
    const { attempts, result } = begin(['a', 'b'], { delay: 60_000 })
    attempts.all[0].fail('EONE')
    await until(() => attempts.all.length === 2, 'b is tried')
    attempts.all[1].fail('ETWO')

    const err: any = await result.catch(err => err)
    expect(err).to.be.an.instanceOf(AggregateError)
    expect(err).to.have.property('code', 'EONE')
    expect(err.errors.map(({ message }: Error) => message)).to.deep.equal(['EONE', 'ETWO'])
  })

  it('fail with the error itself if there is one target', async () => {
    const { attempts, result } = begin(['a'])
    attempts.all[0].fail('EONE')

    await expect(result).to.eventually.be.rejectedWith('EONE')
  })

  for (const targets of [['a'], ['a', 'b']]) {
    it(`end with the signal at once: ${targets.length}`, async () => {
      const controller = new AbortController()
      const { attempts, result } = begin(targets, { signal: controller.signal, delay: 60_000 })
      controller.abort(Object.assign(new Error('enough'), { name: 'AbortError' }))

      await expect(result).to.eventually.be.rejected.with.property('name', 'AbortError')
      expect(attempts.all.every(({ signal }) => signal.aborted)).to.equal(true)
    })
  }

  it('are not tried if the signal has fired before', async () => {
    const { attempts, result } = begin(['a', 'b'], { signal: AbortSignal.abort() })

    await expect(result).to.eventually.be.rejected.with.property('name', 'AbortError')
    expect(attempts.all).to.have.lengthOf(0)
  })
})
