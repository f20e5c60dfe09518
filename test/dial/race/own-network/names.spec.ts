import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../../../fixtures/cleanup.ts'
import { rawPeer } from '../../../fixtures/peers.ts'
import { rawTransport } from '../../../fixtures/raw.ts'
import { skipUnless } from '../../../fixtures/skip.ts'
import { until } from '../../../fixtures/waiting.ts'
import { nameServer } from '../fixtures/name-server.ts'
import { LISTED_NAME, NETWORKS, isOwnNetwork } from '../fixtures/own-network.ts'

const HOST = `${NETWORKS.live}.1`

/** libp2p's `addressDialTimeout`, in ms */
const DIAL_TIMEOUT = 6_000

// https://github.com/nodejs/node/issues/8436
describe('names whose look-up takes long', () => {
  const defer = cleanUpAfterEach()

  skipUnless(isOwnNetwork)

  it('16 dials to 16 ports of a name that takes 1.5 s share one look-up', async () => {
    const { questions } = await nameServer(defer, HOST, () => 1_500)
    const { dial } = rawTransport(defer)
    const peers = await Promise.all(Array.from({ length: 16 }, async () => rawPeer(defer, { host: HOST })))

    await Promise.all(peers.map(async ({ port }) => dial(`/dns4/slow.test/tcp/${port}`, { signal: AbortSignal.timeout(DIAL_TIMEOUT) })))
    expect(questions).to.deep.equal(['slow.test'])
  })

  it('twelve that hang keep no name in the hosts file from being dialled', async () => {
    const { questions } = await nameServer(defer, HOST, () => Infinity)
    const { dial } = rawTransport(defer)
    const { port } = await rawPeer(defer, { host: HOST })
    const hanging = Array.from({ length: 12 }, async (_, i) => dial(`/dns4/hanging-${i}.test/tcp/1`, { signal: AbortSignal.timeout(3_000) }))

    hanging.forEach(dial => { dial.catch(() => {}) })
    await until(() => questions.length >= 2, 'names hang')
    await dial(`/dns4/${LISTED_NAME}/tcp/${port}`, { signal: AbortSignal.timeout(1_000) })
    await expect(dial(`/dns6/${LISTED_NAME}/tcp/${port}`, { signal: AbortSignal.timeout(200) })).to.eventually.be.rejected()
    // the others were not begun, and will not be
    await Promise.allSettled(hanging)
    expect(questions).to.have.lengthOf(2)
  })

  it('one that has hung before leaves places to others, and two dials of it are one look-up', async () => {
    let delay = 1_200
    const { questions } = await nameServer(defer, HOST, name => name.startsWith('well') ? 0 : delay)
    const { dial } = rawTransport(defer)
    const { port } = await rawPeer(defer, { host: HOST })
    const dialAll = async (...names: string[]): Promise<unknown> => Promise.all(names.map(async name => dial(`/dns4/${name}.test/tcp/${port}`)))

    await dialAll('a', 'b')
    delay = 2_000
    const slow = dialAll('a', 'a', 'b')
    await until(() => questions.length >= 3, 'one of them hangs')
    const start = performance.now()
    await dialAll('well')
    expect(performance.now() - start).to.be.below(500)
    await slow
    // the first two were asked at once, by two threads
    expect([...questions.slice(0, 2).sort(), ...questions.slice(2)]).to.deep.equal(['a.test', 'b.test', 'a.test', 'well.test', 'b.test'])
  })
}).timeout(30_000)
