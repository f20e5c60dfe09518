import { PlanError } from '../connector.ts'
import { planNegotiation } from './negotiation-plan.ts'
import type { NegotiationPlan } from './negotiation-plan.ts'
import type { ConnectPlan } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { UpgraderWithoutEncryptionOptions } from '@libp2p/interface'

/** How one attempt to dial is made. An attempt that fails may tell which other plan to follow: {@link nextPlan} */
export interface Plan extends ConnectPlan {
  readonly negotiation: NegotiationPlan
}

/** `refusedAgo` is how long ago the target refused an optimistic dial, in ms, if it did */
export function firstPlan (mayUseFastOpen: boolean, transport: { optimistic?: boolean }, dial: TCPDialOptions, refusedAgo?: number): Plan {
  return {
    port: dial.reusePort === false ? 'any' : 'listening',
    isPortForced: dial.reusePort === true,
    fastOpen: mayUseFastOpen && maySynCarryData(dial),
    negotiation: planNegotiation(transport, dial, refusedAgo)
  }
}

/**
 * Whether the SYN of a dial may carry the first write. It must not if the peer speaks
 * first. A replayed SYN delivers its data twice, so it may hold only bytes of a handshake.
 */
function maySynCarryData (dial: TCPDialOptions): boolean {
  const { skipEncryption }: Partial<UpgraderWithoutEncryptionOptions> = dial

  // the SYN of a hole punch must leave now
  return dial.initiator !== false && dial.reusePort !== true && skipEncryption !== true
}

/**
 * How often one target is dialed at most: each plan after the first does without one
 * of three things (the listening port, data in the SYN, the optimistic negotiation).
 */
export const MAX_ATTEMPTS = 4

/**
 * The plan after an attempt that failed: without what caused the error. Undefined if no plan is better, so that
 * the dial fails. A plan takes no step back, which bounds the attempts by {@link MAX_ATTEMPTS}.
 */
export function nextPlan (plan: Plan, err: unknown): Plan | undefined {
  if (!(err instanceof PlanError)) {
    return
  }

  switch (err.reason) {
    case 'port-taken':
      return plan.port === 'listening' ? { ...plan, port: 'taken' } : undefined
    case 'simultaneous-open':
      return plan.port === 'listening' ? { ...plan, port: 'any' } : undefined
    case 'cookie-lost':
      return plan.fastOpen ? { ...plan, fastOpen: false } : undefined
    case 'refused':
      return plan.negotiation.name === 'optimistic' ? { ...plan, negotiation: { name: 'redial' } } : undefined
    default:
  }
}
