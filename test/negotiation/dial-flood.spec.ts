import { expect } from 'aegir/chai'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialer } from './fixtures/dialer.ts'
import { HEADER, NOISE, joined, message } from './fixtures/proposals.ts'
import { remote } from './fixtures/remote.ts'
import type { Behaviour } from './fixtures/remote.ts'

/** What a peer would send if it were let */
const FLOOD = 256 * MiB

/** What the kernel takes in at both ends before anybody reads, with much to spare */
const MAX_TAKEN = 32 * MiB

describe('a peer that floods instead of replying', () => {
  const defer = cleanUpAfterEach()

  function flood (begin: Uint8Array, afterProposal: boolean): Behaviour {
    return async visit => {
      if (afterProposal) {
        await visit.got(NOISE.byteLength)
      }

      const chunk = Buffer.alloc(64 * KiB, 0x13)
      visit.socket.write(begin)

      while (visit.socket.bytesWritten < FLOOD && visit.socket.writable) {
        await new Promise<void>(resolve => visit.socket.write(chunk, () => { resolve() }))
      }
    }
  }

  const floods: Record<string, Behaviour> = {
    'at once': flood(new Uint8Array(), false),
    'when it has seen the proposal': flood(new Uint8Array(), true),
    'behind the header': flood(HEADER, true),
    'behind all but the last byte of the reply': flood(NOISE.subarray(0, -1), true),
    'behind na': flood(joined(HEADER, message('na')), true),
    'with a message that claims to be long': flood(Uint8Array.of(0xff, 0xff, 0xff, 0x7f), true)
  }

  for (const [name, behaviour] of Object.entries(floods)) {
    it(`${name}, is cut off and takes no memory`, async () => {
      const { addr, left, visits } = await remote(defer, [behaviour])
      const { dial } = await dialer(defer)
      const before = process.memoryUsage().rss

      await expect(dial(addr)).to.eventually.be.rejected()
      await left()

      expect(visits.length).to.be.within(1, 2)
      expect(process.memoryUsage().rss - before).to.be.below(64 * MiB)

      for (const { socket } of visits) {
        expect(socket.bytesWritten).to.be.below(MAX_TAKEN)
      }
    })
  }

  it('of one byte more than the reply at a time, many times over, leaves nothing behind', async () => {
    const { addr, left, visits } = await remote(defer, [async visit => {
      await visit.got(NOISE.byteLength)
      visit.socket.write(joined(NOISE.subarray(0, 27), Uint8Array.of(0)))
    }], { host: '0.0.0.0' })
    const { dial, counted, node } = await dialer(defer)

    for (let i = 0; i < 20; i++) {
      // another address each time: one that refused is remembered
      await expect(dial(addr.replace('0.0.0.0', `127.0.0.${i + 1}`))).to.eventually.be.rejected()
    }

    await left()
    expect(visits).to.have.lengthOf(40)
    expect(counted()).to.deep.equal({ refused: 20, redialed: 20 })
    expect(node.getConnections()).to.be.empty()
  })
})
