import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { dialler } from './fixtures/dialler.ts'
import { NOISE, NA } from './fixtures/proposals.ts'
import { remote } from './fixtures/remote.ts'
import type { Behaviour } from './fixtures/remote.ts'
import type { Socket } from 'node:net'

/** So many that the last reply waits for its turn a long while */
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
    it(`are not taken for refused where a ${name} is right behind the reply`, async () => {
      const { addr, left, visits } = await remote(defer, [together(NOISE, end)])
      const { dial, counted } = await dialler(defer)

      await Promise.all(Array.from({ length: MANY }, async () => {
        await expect(dial(addr)).to.eventually.be.rejected()
      }))
      await left()

      expect(counted()).to.deep.equal({ accepted: MANY })
      expect(visits).to.have.lengthOf(MANY)
    })
  }

  it('are each repeated where they are refused at the same moment', async () => {
    const { addr, left, visits } = await remote(defer, [
      ...Array.from({ length: MANY }, () => refusal),
      visit => visit.socket.end()
    ])
    const { dial, counted } = await dialler(defer)

    await Promise.all(Array.from({ length: MANY }, async () => {
      await expect(dial(addr)).to.eventually.be.rejected()
    }))
    await left()

    expect(counted()).to.deep.equal({ refused: MANY, redialled: MANY })
    expect(visits).to.have.lengthOf(2 * MANY)
  })

  it('can be closed while the refusals wait', async () => {
    const { addr, left, visits } = await remote(defer, [together(NA, () => {})])
    const { dial } = rawTransport(defer)
    const conns = await Promise.all(Array.from({ length: MANY }, async () => dial(addr)))
    const closes: Array<Promise<void>> = []
    let refused = 0

    conns.forEach(conn => {
      conn.addEventListener('close', () => {
        refused++

        // the first one may be heard before the other refusals are there
        if (refused === 2) {
          closes.push(...conns.filter(({ status }) => status === 'open').map(async conn => conn.close()))
        }
      })
      conn.send(NOISE)
    })
    await left()
    await Promise.all(closes)

    expect(visits).to.have.lengthOf(MANY)
    expect(closes).to.have.lengthOf(MANY - 2)
    expect(conns.filter(({ status }) => status === 'closed')).to.have.lengthOf(MANY - 2)
  })

  const refusal = together(NA, () => {})
})
