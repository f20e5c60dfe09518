import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { bareNode, echoNode, stacks } from '../negotiation/fixtures/stacks.ts'
import { turnTakingRelay } from '../negotiation/fixtures/turn-taking-relay.ts'
import { atFirstByte, timeFirstByte } from './fixtures/first-byte.ts'
import type { StackName } from '../negotiation/fixtures/stacks.ts'
import type { Libp2p } from '@libp2p/interface'

/** Round trips from the dial to the first echoed byte, without the one of the SYN, which ends at the relay */
const ROUND_TRIPS: Record<StackName, number> = {
  'all of ours': 2,
  'tcp() alone': 3,
  // what PR #3032 proposed (noDelay, a CLOSE_TIMEOUT of 250 ms), and nothing else
  'tcp({ optimistic: false })': 4,
  '@libp2p/tcp 11': 4
}

/**
 * "To connect to another js-libp2p peer and send one byte takes 0.2 s with `@libp2p/tcp` 9 but 0.4 s with 10", between two data centres.
 *
 * @see https://github.com/libp2p/js-libp2p/issues/3029
 */
describe('js-libp2p #3029: round trips from dial to the first echoed byte', () => {
  const defer = cleanUpAfterEach()

  async function ends (stack: StackName): Promise<{ listener: Libp2p, dialer: Libp2p, port: number }> {
    const listener = await echoNode(defer)
    const dialer = await bareNode(defer, stacks[stack]())
    const [addr] = listener.getMultiaddrs()

    // the first dial of a process compiles and loads what it needs
    await timeFirstByte(dialer, addr.toString())

    return {
      listener,
      dialer,
      port: Number(addr.getComponents().find(({ name }) => name === 'tcp')?.value)
    }
  }

  for (const [stack, roundTrips] of Object.entries(ROUND_TRIPS) as Array<[StackName, number]>) {
    it(`${stack} takes ${roundTrips} round trips`, async () => {
      const { dialer, listener, port } = await ends(stack)
      const counts: number[] = []

      for (let i = 0; i < 3; i++) {
        const relay = await turnTakingRelay(defer, port)
        counts.push(await atFirstByte(dialer, `/ip4/127.0.0.1/tcp/${relay.port}/p2p/${listener.peerId}`, () => relay.halfTrips / 2))
      }

      // no stall makes an answer come before its question, so no count is too small
      expect(Math.min(...counts)).to.equal(roundTrips)
    })
  }
})
