import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../../fixtures/cleanup.ts'
import { createNode } from '../../../fixtures/node.ts'
import { portOf } from '../../../fixtures/raw.ts'
import { skipUnless } from '../../../fixtures/skip.ts'
import { isThorough } from '../../../fixtures/thorough.ts'
import { addressOf, somePeerId } from '../fixtures/addresses.ts'
import { NETWORKS, isOwnNetwork } from '../fixtures/own-network.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/** What the kernel says of each, if it says something */
const CODES = {
  silent: undefined,
  'host unreachable': 'EHOSTUNREACH',
  'port unreachable': 'ECONNREFUSED',
  prohibited: 'EHOSTUNREACH',
  reset: 'ECONNREFUSED',
  'unreachable route': 'EHOSTUNREACH',
  'prohibited route': 'EACCES',
  'blackhole route': 'EINVAL'
} as const

describe(`addresses that the network refuses${isOwnNetwork ? '' : ' (SKIPPED: this is no network of its own)'}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(isOwnNetwork)

  const some = (name: keyof typeof NETWORKS, count: number, peer: { toString(): string }): Multiaddr[] => (
    Array.from({ length: count }, (_, i) => addressOf(4001, peer, `/ip4/${NETWORKS[name]}.${1 + i}`))
  )

  for (const [name, code] of Object.entries(CODES) as Array<[keyof typeof CODES, string | undefined]>) {
    for (const count of isThorough ? [1, 2, 6, 20] : [2, 20]) {
      it(`(${name}) do not hide the live one behind ${count} of them`, async () => {
        const live = await createNode(defer, { addresses: { listen: ['/ip4/0.0.0.0/tcp/0'] } })
        const dialer = await createNode(defer)
        const start = performance.now()
        const { remoteAddr } = await dialer.dial([
          ...some(name, count, live.peerId),
          addressOf(portOf(live.getMultiaddrs()[0]), live.peerId, `/ip4/${NETWORKS.live}.1`)
        ])

        expect(remoteAddr.toString()).to.include(NETWORKS.live)
        // libp2p gives one silent address 6 s; machines are busy
        expect(performance.now() - start).to.be.below(3_000)
      })
    }

    if (code != null) {
      it(`(${name}) fail at once with ${code}, each by its name, if there is no other`, async () => {
        const dialer = await createNode(defer)
        const addresses = some(name, 3, await somePeerId())
        const start = performance.now()
        const err: any = await dialer.dial(addresses).then(() => {}, err => err)

        expect(err.errors.map(({ code }: any) => code)).to.deep.equal([code, code, code])
        addresses.forEach((ma, i) => { expect(err.errors[i].message).to.include(`${NETWORKS[name]}.${1 + i}`) })
        expect(performance.now() - start).to.be.below(3_000)
      })
    }
  }

  it('of all kinds together do not hide the live one', async () => {
    const live = await createNode(defer, { addresses: { listen: ['/ip4/0.0.0.0/tcp/0'] } })
    const dialer = await createNode(defer)
    const start = performance.now()

    await dialer.dial([
      ...(Object.keys(CODES) as Array<keyof typeof CODES>).flatMap(name => some(name, 2, live.peerId)),
      addressOf(portOf(live.getMultiaddrs()[0]), live.peerId, `/ip4/${NETWORKS.live}.1`)
    ])

    expect(performance.now() - start).to.be.below(3_000)
  })
})
