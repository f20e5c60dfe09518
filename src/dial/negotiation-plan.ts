import { PLAINTEXT } from '../libp2p.ts'
import type { DialProposal } from '../optimistic/dial-proposal.ts'
import type { UpgraderOptions, UpgraderWithoutEncryptionOptions } from '@libp2p/interface'

/**
 * How an attempt negotiates its encrypter: optimistically, or in full for one of these reasons
 *
 * - `option`: the transport's option says so
 * - `responder`: the peer proposes
 * - `unencrypted`: there is no encrypter, so the muxer is proposed first
 * - `refused`: the address refused an optimistic dial `ago` ms ago
 * - `redial`: the peer has just refused one
 */
export type NegotiationPlan =
  { readonly name: 'optimistic' | 'option' | 'responder' | 'unencrypted' | 'redial' } |
  { readonly name: 'refused', readonly ago: number }

/** `refusedAgo` is how long ago the address refused an optimistic dial, in ms, if it did */
export function planNegotiation (transport: { optimistic?: boolean }, dial: object, refusedAgo?: number): NegotiationPlan {
  const { initiator, skipEncryption }: Partial<UpgraderOptions & UpgraderWithoutEncryptionOptions> = dial

  if (transport.optimistic === false) {
    return { name: 'option' }
  }

  if (initiator === false) {
    return { name: 'responder' }
  }

  if (skipEncryption === true) {
    return { name: 'unencrypted' }
  }

  return refusedAgo == null ? { name: 'optimistic' } : { name: 'refused', ago: refusedAgo }
}

const IN_FULL = {
  option: 'the option `optimistic` of the transport is false',
  responder: 'the peer proposes, since the dial has `initiator: false`',
  unencrypted: 'the dial has `skipEncryption: true`',
  redial: 'the peer refused the optimistic dial just before'
}

const OUTCOMES = {
  verified: 'the peer accepted',
  refused: 'the peer refused',
  awaiting: 'the peer did not answer'
}

/** For a line of the log: how it was negotiated, and why or with which outcome */
export function describeNegotiation (plan: NegotiationPlan, negotiation?: Pick<DialProposal, 'protocol' | 'state'>): string {
  if (plan.name === 'refused') {
    return `in full: the address refused an optimistic dial ${Math.floor(plan.ago / 60_000)} minutes ago`
  }

  return plan.name === 'optimistic' ? describeOutcome(negotiation) : `in full: ${IN_FULL[plan.name]}`
}

/** The bytes of the first write decide whether there is anything to propose early */
function describeOutcome ({ protocol, state }: Pick<DialProposal, 'protocol' | 'state'> = { state: 'undecided', protocol: undefined }): string {
  if (state === 'undecided') {
    return 'ended before anything was sent'
  }

  if (state === 'passing') {
    return protocol === PLAINTEXT
      ? `in full: ${PLAINTEXT} has no handshake to send early`
      : 'in full: the first bytes are no proposal, as in a private network, or the peer spoke first'
  }

  return `optimistic: ${OUTCOMES[state]} ${protocol}`
}
