import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, untilStill } from '../fixtures/waiting.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { HEADER, NA, NOISE, NOISE_ONLY, joined, message } from './fixtures/proposals.ts'
import { relayTo, remote, reply } from './fixtures/remote.ts'
import { ECHO, echoNode, firstByte } from './fixtures/stacks.ts'

describe('a dial that is refused', () => {
  const defer = cleanUpAfterEach()

  const refusals: Record<string, ReturnType<typeof reply>> = {
    'na, then silence': reply(NA),
    'na, then FIN': reply(NA, 'FIN'),
    'na, then RST': reply(NA, 'RST'),
    'na without a header': reply(message('na')),
    'the header twice': reply(joined(HEADER, HEADER, NOISE_ONLY)),
    'a length in more bytes than it needs': reply(joined(HEADER, message('/noise', 2))),
    'an HTTP error': reply(new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'one wrong byte': reply(Uint8Array.of(0)),
    FIN: reply(new Uint8Array(), 'FIN'),
    RST: reply(new Uint8Array(), 'RST')
  }

  for (const [name, refuse] of Object.entries(refusals)) {
    it(`by ${name}, is repeated once with full negotiation and works`, async () => {
      const listener = await echoNode(defer)
      const { addr, visits } = await remote(defer, [refuse, relayTo(portOf(listener))])
      const { dial, counted, progress } = await dialer(defer)

      const connection = await dial(addr)
      const stream = await connection.newStream(ECHO)

      expect(await firstByte(stream)).to.equal(42)
      expect(connection.remotePeer.equals(listener.peerId)).to.be.true()
      expect(visits).to.have.lengthOf(2)
      expect(progress).to.deep.equal(['tcp:open-connection', 'tcp:redial', 'tcp:open-connection'])
      expect(counted()).to.deep.equal({ refused: 1, redialed: 1 })

      // the first socket is closed at once, not when the second one is
      await until(() => visits[0].socket.closed, 'the refused connection is closed')
      expect(connection.status).to.equal('open')
    })
  }

  it('sends the handshake with the first proposal and not with the second', async () => {
    const { addr, visits } = await remote(defer, [reply(NA), reply(NOISE)])
    const { dial } = await dialer(defer)
    const controller = new AbortController()
    const dialed = dial(addr, { signal: controller.signal })
    dialed.catch(() => {})

    await until(() => visits[1]?.received.byteLength > NOISE.byteLength, 'the dialer has sent the handshake again')

    // by then na was on its way, so all that was sent before is there
    expect(visits[0].received).to.have.lengthOf(NOISE.byteLength + 2 + 32)
    expect(visits[1].received.subarray(0, NOISE.byteLength)).to.equalBytes(NOISE)

    controller.abort()
    await expect(dialed).to.eventually.be.rejected.with.property('name', 'AbortError')
  })

  for (const ending of ['silence', 'FIN', 'RST'] as const) {
    it(`and refused again by na and ${ending}, is not repeated a third time`, async () => {
      const { addr, left, visits } = await remote(defer, [reply(NA, ending)])
      const { dial, counted, progress } = await dialer(defer)

      await expect(dial(addr)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')

      await left()
      expect(await untilStill(() => visits.length)).to.equal(2)
      expect(progress).to.deep.equal(['tcp:open-connection', 'tcp:redial', 'tcp:open-connection'])
      expect(counted()).to.deep.equal({ refused: 1, redialed: 1 })
    })
  }

  for (const ending of ['FIN', 'RST'] as const) {
    it(`by ${ending} after any part of the reply, is repeated once and never more`, async () => {
      const { dial } = await dialer(defer)

      for (let bytes = 0; bytes < NOISE.byteLength; bytes++) {
        const { addr, left, visits } = await remote(defer, [reply(NOISE.subarray(0, bytes), ending)])

        await expect(dial(addr), `${bytes} bytes`).to.eventually.be.rejected()
        await left()
        expect(visits, `${bytes} bytes`).to.have.lengthOf(2)
      }
    })

    it(`by ${ending} behind the whole reply, is not repeated`, async () => {
      const { addr, left, visits } = await remote(defer, [reply(NOISE, ending)])
      const { dial, counted } = await dialer(defer)

      await expect(dial(addr)).to.eventually.be.rejected.with.property('name', 'EncryptionFailedError')

      await left()
      expect(await untilStill(() => visits.length)).to.equal(1)
      expect(counted()).to.deep.equal({ accepted: 1 })
    })
  }

  it('is repeated whichever byte of the reply is another one', async () => {
    const { dial } = await dialer(defer)

    for (let at = 0; at < NOISE.byteLength; at++) {
      for (const value of [NOISE[at] ^ 1, NOISE[at] ^ 0x80, (at * 37 + 11) & 0xff].filter(value => value !== NOISE[at])) {
        const { addr, left, visits } = await remote(defer, [reply(NOISE.with(at, value)), reply(NA, 'FIN')])

        await expect(dial(addr), `${value} at ${at}`).to.eventually.be.rejected()
        await left()
        expect(visits, `${value} at ${at}`).to.have.lengthOf(2)
      }
    }
  })
})
