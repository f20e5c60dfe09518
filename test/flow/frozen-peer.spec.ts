import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { MiB, collect, payload, sendPolitely, tally } from '../fixtures/bytes.ts'
import { runChild } from '../fixtures/child.ts'
import { ECHO } from '../fixtures/echo.ts'
import { closed, until } from '../fixtures/waiting.ts'
import { stack } from '../lab/stacks.ts'
import { bareNode } from '../negotiation/fixtures/stacks.ts'

const FROZEN = 10_000

// libp2p's own monitor would abort the connection: its ping is not answered
describe(`a peer that is stopped for ${FROZEN / 1_000} s in mid-transfer`, () => {
  const itAtOnce = testsAtOnce()

  for (const peer of ['ours', 'official'] as const) {
    itAtOnce(`sends and receives all when it goes on, as ${peer}`, async defer => {
      const child = runChild(defer, 'echo-node.ts', [peer])
      const node = await bareNode(defer, stack('ours'))
      const connection = await node.dial(multiaddr(await child.says()))
      const [stream, other] = await Promise.all([connection.newStream(ECHO), connection.newStream(ECHO)])
      const data = payload(32 * MiB)
      const received = collect(stream)
      const small = collect(other)
      const sending = sendPolitely(stream, data).then(async () => stream.close())

      await until(() => received.bytes > 4 * MiB, 'the transfer is under way')
      child.kill('SIGSTOP')
      other.send(Uint8Array.of(1, 2, 3))
      await delay(FROZEN)
      expect(received.bytes).to.be.lessThan(data.byteLength)
      child.kill('SIGCONT')
      await Promise.all([sending, closed(stream, 40_000), until(() => small.bytes === 3, 'a small stream is echoed')])

      expect(received.result()).to.deep.equal(tally(data))
      expect(connection.status).to.equal('open')
    })
  }
})
