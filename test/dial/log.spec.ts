import { plaintext } from '@libp2p/plaintext'
import { generateKey, preSharedKey } from '@libp2p/pnet'
import { expect } from 'aegir/chai'
import { describeNegotiation } from '../../src/dial/negotiation-plan.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { dialer, portOf } from '../negotiation/fixtures/dialer.ts'
import { NA } from '../negotiation/fixtures/proposals.ts'
import { relayTo, remote, reply } from '../negotiation/fixtures/remote.ts'
import { rendezvous } from '../negotiation/fixtures/rendezvous.ts'
import { echoNode } from '../negotiation/fixtures/stacks.ts'
import type { Dialer, DialerOptions } from '../negotiation/fixtures/dialer.ts'
import type { Logger, UpgraderOptions } from '@libp2p/interface'

describe('the log tells how each dial was negotiated, and why', () => {
  const defer = cleanUpAfterEach()

  async function loggingDialer (options: DialerOptions = {}): Promise<Dialer & { told(): string[] }> {
    const told: string[] = []

    // it enables nothing that other nodes of this process would print
    function log (): Logger {
      return Object.assign((formatter: string, ...args: unknown[]) => {
        if (formatter.startsWith('negotiation with')) {
          told.push(String(args[1]))
        }
      }, { enabled: true, error: () => {}, trace: () => {}, newScope: log })
    }

    return {
      ...await dialer(defer, { ...options, logger: { forComponent: log } }),
      told: () => told
    }
  }

  it('optimistically', async () => {
    const { dial, told } = await loggingDialer()

    await dial(`/ip4/127.0.0.1/tcp/${portOf(await echoNode(defer))}`)
    expect(told()).to.deep.equal(['optimistic: the peer accepted /noise'])
  })

  it('in full by the option', async () => {
    const { dial, told } = await loggingDialer({ tcp: { optimistic: false } })

    await dial(`/ip4/127.0.0.1/tcp/${portOf(await echoNode(defer))}`)
    expect(told()).to.deep.equal(['in full: the option `optimistic` of the transport is false'])
  })

  it('in full after a refusal, of this dial or of one before', async () => {
    const { addr } = await remote(defer, [reply(NA), relayTo(portOf(await echoNode(defer)))])
    const { dial, told } = await loggingDialer()

    await dial(addr)
    await dial(addr)
    expect(told()).to.deep.equal([
      'optimistic: the peer refused /noise',
      'in full: the peer refused the optimistic dial just before',
      'in full: the address refused an optimistic dial 0 minutes ago'
    ])
  })

  it('in full, with the age of the refusal', () => {
    expect(describeNegotiation({ name: 'refused', ago: 12.9 * 60_000 })).to.equal('in full: the address refused an optimistic dial 12 minutes ago')
  })

  it('in full in a private network', async () => {
    const psk = new Uint8Array(95)
    generateKey(psk)
    const network = { connectionProtector: preSharedKey({ psk }) }
    const { dial, told } = await loggingDialer(network)

    await dial(`/ip4/127.0.0.1/tcp/${portOf(await echoNode(defer, '127.0.0.1', network))}`)
    expect(told()).to.deep.equal(['in full: the first bytes are no proposal, as in a private network, or the peer spoke first'])
  })

  it('in full over plaintext', async () => {
    const encrypters = { connectionEncrypters: [plaintext()] }
    const { dial, told } = await loggingDialer(encrypters)

    await dial(`/ip4/127.0.0.1/tcp/${portOf(await echoNode(defer, '127.0.0.1', encrypters))}`)
    expect(told()).to.deep.equal(['in full: /plaintext/2.0.0 has no handshake to send early'])
  })

  it('in full where the peer proposes', async () => {
    const { addr, visits } = await rendezvous(defer)
    const { dial, told } = await loggingDialer()
    const initiator = await dialer(defer)
    const responding = dial(addr, { initiator: false } as Partial<UpgraderOptions>)

    await until(() => visits.length === 1, 'the responder is there')
    await Promise.all([responding, initiator.dial(addr)])
    expect(told()).to.deep.equal(['in full: the peer proposes, since the dial has `initiator: false`'])
  })

  it('optimistically and without an answer', async () => {
    const { addr } = await remote(defer, [() => {}])
    const { dial, told } = await loggingDialer()

    await expect(dial(addr, { signal: AbortSignal.timeout(200) })).to.eventually.be.rejected()
    expect(told()).to.deep.equal(['optimistic: the peer did not answer /noise'])
  })
})
