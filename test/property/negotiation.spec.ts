import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, until } from '../fixtures/waiting.ts'
import { dialer, portOf } from '../negotiation/fixtures/dialer.ts'
import { relayTo, remote } from '../negotiation/fixtures/remote.ts'
import { ECHO, echoNode, firstByte } from '../negotiation/fixtures/stacks.ts'
import { chunked, seed } from './fixtures/check.ts'
import { checkConcurrently } from './fixtures/concurrently.ts'
import { EXPECTED, compare, replies } from './fixtures/replies.ts'

const replied = fc.record({
  chunks: chunked(replies),
  ends: fc.constantFrom('FIN' as const, 'silence' as const)
})

/** Lengths of the parts in which a peer sends what it has to send */
const cuts = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 40 })

describe(`properties of the negotiation over sockets (seed ${seed})`, () => {
  const defer = cleanUpAfterEach()

  it('the reader gets what the model says, wherever the reply is split, and an error where the model refuses', async function () {
    await checkConcurrently(this, replied, async ({ chunks, ends }, defer) => {
      const { addr } = await remote(defer, [async visit => {
        visit.socket.setNoDelay(true)
        await visit.got(EXPECTED.byteLength)

        for (const chunk of chunks) {
          visit.socket.write(chunk)
          await nextTurn()
        }

        if (ends === 'FIN') {
          visit.socket.end()
        }
      }])
      const reply = Uint8Array.from(chunks.flatMap(chunk => [...chunk]))
      const { state, rest } = compare(reply)
      const isRefused = state === 'refused' || (state === 'awaiting' && ends === 'FIN')
      const connection = await rawTransport(defer).dial(addr)
      const read: number[] = []

      const close = closed(connection)
      close.catch(() => {})
      connection.addEventListener('message', ({ data }) => { read.push(...data.subarray()) })
      connection.send(EXPECTED)

      if (isRefused || ends === 'FIN') {
        expect((await close).error?.name).to.equal(isRefused ? 'UnsupportedProtocolError' : undefined)
      } else {
        await until(() => read.length >= EXPECTED.byteLength + rest.length, 'all has come')
      }

      // what was glued to the reply may have been read before the peer was refused, nothing else
      expect(read).to.deep.equal([...EXPECTED, ...rest])
    })
  })

  it('a dial comes through, wherever all that the listener sends is split', async function () {
    const listener = await echoNode(defer)
    const { dial, counted } = await dialer(defer)
    let dials = 0

    await checkConcurrently(this, cuts, async (lengths, defer) => {
      let part = 0
      const { addr } = await remote(defer, [relayTo(portOf(listener), async (bytes, write) => {
        for (let at = 0; at < bytes.byteLength;) {
          // once all parts were used the rest comes as it is
          const length = lengths[part++] ?? bytes.byteLength

          await write(bytes.subarray(at, at + length))
          await nextTurn()
          at += length
        }
      })])
      const connection = await dial(addr)

      dials++
      expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
      connection.abort(new Error('done'))
    })

    expect(counted()).to.deep.equal({ accepted: dials })
  })
})
