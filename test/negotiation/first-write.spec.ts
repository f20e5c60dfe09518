import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawPeer, readAll } from '../fixtures/peers.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { straceWorks, trace } from '../fixtures/strace.ts'
import { within } from '../fixtures/waiting.ts'
import { NOISE, TLS } from './fixtures/proposals.ts'

describe('the first write of a dial', () => {
  const defer = cleanUpAfterEach()

  for (const [encrypter, proposal] of [['noise', NOISE], ['tls', TLS]] as const) {
    itIf(straceWorks)(`holds the proposal of ${encrypter}, which the peer works on while the handshake begins${straceWorks ? '' : ' (SKIPPED: strace is missing or not allowed)'}`, async () => {
      const { addr, port, next } = await rawPeer(defer)
      const child = await trace(defer, ['write', 'writev', 'sendto', 'sendmsg'], 'dial-once.ts', [addr, encrypter])
      const socket = await next()
      await pEvent(socket, 'data')

      // a refusal by RST: the second dial negotiates in full
      socket.resetAndDestroy()
      next().then(socket => { socket.resetAndDestroy() }, () => {})

      const calls = await child.calls()
      const sizes = calls.filter(call => call.includes(`->127.0.0.1:${port}]`)).map(call => Number(/[=] (\d+)$/.exec(call)?.[1]))

      expect(sizes[0]).to.equal(proposal.byteLength)
    })
  }

  it('holds the proposal alone, in the same turn, where no handshake follows', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial } = rawTransport(defer)

    await dial(addr, { upgrader: passThrough(maConn => { maConn.send(NOISE) }) })

    const socket = await next()
    const [received] = await pEvent<string, [Buffer]>(socket, 'data', { multiArgs: true, timeout: 5_000 })

    expect(received).to.equalBytes(NOISE)
  })

  it('is not lost where the connection is closed right behind it', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial } = rawTransport(defer)

    await dial(addr, {
      upgrader: passThrough(maConn => {
        maConn.send(NOISE)
        void maConn.close()
      })
    })

    const socket = await next()
    const { bytes } = await within(5_000, 'the end', readAll(socket))

    expect(bytes).to.equal(NOISE.byteLength)
  })
})
