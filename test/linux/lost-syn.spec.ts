import { spawnSync } from 'node:child_process'
import { expect } from 'aegir/chai'
import { linux } from '../../src/linux/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { within } from '../fixtures/waiting.ts'
import { dialer } from '../negotiation/fixtures/dialer.ts'
import { echoNode } from '../negotiation/fixtures/stacks.ts'
import { canListen } from './fixtures/availability.ts'

/** Of these tests alone: they change its firewall, and what it knows of hosts */
const isOwnNamespace = process.env.OWN_NAMESPACE === 'true' && canListen

/** More than a SYN without data has, IP header included */
const SYN_BYTES = 80

describe(`a SYN with data${isOwnNamespace ? '' : ' (SKIPPED: this is no network namespace of its own)'}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(isOwnNamespace)

  function run (command: string): void {
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })

    if (status !== 0) {
      throw new Error(`${command}: ${stderr}`)
    }
  }

  /** As some firewalls do */
  function dropSynsWithData ({ allThatFollows = false } = {}): void {
    const rules = [
      `tcp flags & (syn | ack) == syn ip length > ${SYN_BYTES} ${allThatFollows ? 'add @flows { tcp sport }' : ''} counter drop`,
      'tcp sport @flows drop'
    ]

    run(`nft 'add table ip middlebox; add set ip middlebox flows { type inet_service; flags dynamic; size 1024; }; add chain ip middlebox input { type filter hook input priority 0; }; ${rules.map(rule => `add rule ip middlebox input ${rule}`).join('; ')}'`)
    defer(() => { run('nft delete table ip middlebox') })
  }

  it('that a middlebox drops costs a second once: the host is then dialed without for an hour', async function () {
    if (spawnSync('nft', ['--version']).status !== 0) {
      this.skip()
    }

    const node = await echoNode(defer)
    const cookies = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).listen()
    const counts = counters()
    const { dial } = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) }, counts })
    const addr = node.getMultiaddrs()[0].toString()

    const cookie = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).dial(cookies.addr)
    await cookie.close()
    dropSynsWithData()

    const first = await within(5_000, 'the first dial', dial(addr))
    await first.close()
    expect(counts.labels('libp2p_tcp_fast_open_dials_total')).to.deep.equal({ retransmitted: 1 })

    const start = performance.now()
    const second = await dial(addr)
    const ms = performance.now() - start
    await second.close()

    // the kernel sends a SYN again after a second
    expect(ms).to.be.below(900)
    expect(counts.labels('libp2p_tcp_fast_open_dials_total')).to.deep.equal({ retransmitted: 1 })
    expect(counts.value('libp2p_tcp_dialer_events_total', 'connect')).to.equal(2)
    expect(counts.value('libp2p_tcp_dialer_events_total', 'error')).to.equal(0)
  }).timeout(20_000)

  it('whose flow a middlebox drops for good costs one dial: the next one goes without', async function () {
    if (spawnSync('nft', ['--version']).status !== 0) {
      this.skip()
    }

    const node = await echoNode(defer)
    const cookies = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).listen()
    const { dial } = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) } })
    const addr = node.getMultiaddrs()[0].toString()

    const cookie = await rawTransport(defer, { linux: linux({ fastOpen: true }) }).dial(cookies.addr)
    await cookie.close()
    dropSynsWithData({ allThatFollows: true })

    // the kernel sends the SYN again after a second
    await expect(dial(addr, { signal: AbortSignal.timeout(2_500) })).to.eventually.be.rejected()

    const connection = await within(2_000, 'the second dial', dial(addr))

    expect(connection.status).to.equal('open')
    await connection.close()
  }).timeout(20_000)

  it('that the kernel cannot send after all, since it has just lost the cookie, is dialed again', async () => {
    const node = await echoNode(defer)
    const { dial: dialRaw, listen } = rawTransport(defer, { linux: linux({ fastOpen: true }) })
    const { addr } = await listen()
    const cookie = await dialRaw(addr)
    await cookie.close()

    const counts = counters()
    const { dial } = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) }, counts })
    const connection = await within(2_000, 'the dial', dial(node.getMultiaddrs()[0].toString(), {
      onProgress ({ type }) {
        if (type === 'upgrader:encrypt-outbound-connection') {
          run('ip tcp_metrics flush')
        }
      }
    }))

    expect(connection.status).to.equal('open')
    expect(counts.value('libp2p_tcp_dialer_errors_total', 'outbound_upgrade')).to.equal(0)
  })
})
