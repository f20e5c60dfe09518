import { mock } from 'node:test'
import { expect } from 'aegir/chai'
import { Uint8ArrayList } from 'uint8arraylist'
import { PROTOCOL_NEGOTIATION_TIMEOUT } from '../../src/libp2p.ts'
import { Proposal } from '../../src/optimistic/proposal.ts'

describe('FIN behind a proposal, with a peer store that hangs', () => {
  beforeEach(() => { mock.timers.enable({ apis: ['setTimeout'] }) })
  afterEach(() => { mock.timers.reset() })

  it('waits for as long as a peer may take to agree on a protocol, and no longer', async () => {
    const proposal = new Proposal({
      protocol: '/test/1.0.0',
      replyTimeout: PROTOCOL_NEGOTIATION_TIMEOUT,
      settle: async () => new Promise(() => {}),
      onFailed: err => { throw err },
      onOutcome: () => {}
    })

    proposal.receive(new Uint8ArrayList(proposal.bytes))

    const waiting = proposal.waitForHandler()

    mock.timers.tick(PROTOCOL_NEGOTIATION_TIMEOUT - 1)
    await Promise.resolve()
    expect(proposal.mayFin).to.equal(false)

    mock.timers.tick(1)
    await waiting
    expect(proposal.mayFin).to.equal(true)
  })
})
