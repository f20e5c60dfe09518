import { expect } from 'aegir/chai'
import { PlanError } from '../../src/connector.ts'
import { MAX_ATTEMPTS, nextPlan } from '../../src/dial/plan.ts'
import type { PlanErrorReason, PortPlan } from '../../src/connector.ts'
import type { NegotiationPlan } from '../../src/dial/negotiation-plan.ts'
import type { Plan } from '../../src/dial/plan.ts'

const REASONS: PlanErrorReason[] = ['port-taken', 'simultaneous-open', 'cookie-lost', 'refused']
const PORTS: PortPlan[] = ['listening', 'any', 'taken']
const NEGOTIATIONS: NegotiationPlan[] = [
  ...(['optimistic', 'option', 'responder', 'unencrypted', 'redial'] as const).map(name => ({ name })),
  { name: 'refused', ago: 1_000 }
]
const PLANS: Plan[] = PORTS.flatMap(port => NEGOTIATIONS.flatMap(negotiation => [true, false].map(fastOpen => ({ port, fastOpen, negotiation }))))

/** What each error takes out of a plan, if the plan has it */
const TAKES: Record<PlanErrorReason, { has(plan: Plan): boolean, without: Partial<Plan> }> = {
  'port-taken': { has: plan => plan.port === 'listening', without: { port: 'taken' } },
  'simultaneous-open': { has: plan => plan.port === 'listening', without: { port: 'any' } },
  'cookie-lost': { has: plan => plan.fastOpen, without: { fastOpen: false } },
  refused: { has: plan => plan.negotiation.name === 'optimistic', without: { negotiation: { name: 'redial' } } }
}

describe('the plan of a dial', () => {
  for (const reason of REASONS) {
    it(`loses what caused the error "${reason}" and nothing else, or ends if it does not have that`, () => {
      const { has, without } = TAKES[reason]

      for (const plan of PLANS) {
        expect(nextPlan(plan, new PlanError(reason, ''))).to.deep.equal(has(plan) ? { ...plan, ...without } : undefined)
      }
    })
  }

  it('ends with every other error', () => {
    for (const plan of PLANS) {
      for (const err of [new Error('connect ECONNREFUSED'), Object.assign(new Error(), { code: 'EADDRINUSE' }), undefined, 'refused']) {
        expect(nextPlan(plan, err)).to.equal(undefined)
      }
    }
  })

  it(`leads to ${MAX_ATTEMPTS} attempts at most, whatever goes wrong in whatever order`, () => {
    function attempts (plan: Plan): number {
      return 1 + Math.max(0, ...REASONS.map(reason => {
        const next = nextPlan(plan, new PlanError(reason, ''))

        return next == null ? 0 : attempts(next)
      }))
    }

    expect(Math.max(...PLANS.map(attempts))).to.equal(MAX_ATTEMPTS)
  })
})
