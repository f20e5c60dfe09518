import { expect } from 'aegir/chai'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { runChild } from '../fixtures/child.ts'
import { within } from '../fixtures/waiting.ts'
import type { Child } from '../fixtures/child.ts'
import type { Defer } from '../fixtures/cleanup.ts'

describe('a node that is stopped leaves no TCP or pipe handle', function () {
  this.timeout(60_000)

  const itAtOnce = testsAtOnce()

  async function start (defer: Defer, addr?: string): Promise<[Child, string[]]> {
    const child = runChild(defer, 'lifecycle.ts', addr == null ? [] : [addr])
    expect(await child.says()).to.equal('hello')

    return [child, await child.says()]
  }

  async function expectCleanStop (child: Child): Promise<void> {
    child.tell('stop')
    const { connections, before, after } = await within(5_000, 'node.stop()', child.says())

    expect(connections).to.equal(1)
    expect(after).to.deep.equal(before)
    expect(await within(5_000, 'the end of the process', child.exited)).to.equal(0)
  }

  itAtOnce('when the dialer stops first', async defer => {
    const [listener, [addr]] = await start(defer)
    const [dialer] = await start(defer, addr)

    await expectCleanStop(dialer)

    const [second] = await start(defer, addr)
    await expectCleanStop(listener)
    second.tell('stop')
    expect(await within(5_000, 'node.stop()', second.says())).to.have.property('connections', 0)
    expect(await within(5_000, 'the end of the process', second.exited)).to.equal(0)
  })

  itAtOnce('when both stop at once', async defer => {
    const [listener, [addr]] = await start(defer)
    const [dialer] = await start(defer, addr)

    dialer.tell('stop')
    listener.tell('stop')

    for (const child of [dialer, listener]) {
      const { before, after } = await within(5_000, 'node.stop()', child.says())

      expect(after).to.deep.equal(before)
      expect(await within(5_000, 'the end of the process', child.exited)).to.equal(0)
    }
  })
})
