import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialer } from './fixtures/dialer.ts'
import { NA, NOISE, counting, joined } from './fixtures/proposals.ts'
import { remote } from './fixtures/remote.ts'
import type { Behaviour } from './fixtures/remote.ts'
import type { Socket } from 'node:net'

/** So many that what follows the last reply waits for its turn a long while */
const MANY = 30

describe('many dials at a time', () => {
  const defer = cleanUpAfterEach()

  /** When all peers have their proposals, they reply at the same moment and end */
  function together (bytes: Uint8Array, end: (socket: Socket) => void): Behaviour {
    const asked: Socket[] = []

    return async visit => {
      await visit.got(NOISE.byteLength)
      asked.push(visit.socket)

      if (asked.length === MANY) {
        asked.forEach(socket => {
          socket.write(bytes)
          end(socket)
        })
      }
    }
  }

  for (const [name, end] of Object.entries({
    FIN: (socket: Socket) => socket.end(),
    RST: (socket: Socket) => socket.resetAndDestroy()
  })) {
    for (const [what, bytes] of Object.entries({
      'the reply': NOISE,
      'the reply and what follows it': joined(NOISE, counting(40))
    })) {
      it(`are not taken for refused where a ${name} is right behind ${what}`, async () => {
        const { addr, left, visits } = await remote(defer, [together(bytes, end)])
        const { dial, counted } = await dialer(defer)

        await Promise.all(Array.from({ length: MANY }, async () => {
          await expect(dial(addr)).to.eventually.be.rejected()
        }))
        await left()

        expect(counted()).to.deep.equal({ accepted: MANY })
        expect(visits).to.have.lengthOf(MANY)
      })
    }
  }

  it('are each repeated where they are refused at the same moment', async () => {
    const { addr, left, visits } = await remote(defer, [
      ...Array.from({ length: MANY }, () => refusal),
      visit => visit.socket.end()
    ])
    const { dial, counted } = await dialer(defer)

    await Promise.all(Array.from({ length: MANY }, async () => {
      await expect(dial(addr)).to.eventually.be.rejected()
    }))
    await left()

    expect(counted()).to.deep.equal({ refused: MANY, redialed: MANY })
    expect(visits).to.have.lengthOf(2 * MANY)
  })

  const refusal = together(NA, () => {})
})
