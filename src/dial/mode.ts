import { PLAINTEXT } from '../libp2p.ts'
import { OptimisticNegotiation } from '../optimistic/dial-proposal.ts'
import type { UpgraderOptions, UpgraderWithoutEncryptionOptions } from '@libp2p/interface'

/**
 * How a dial negotiates its encrypter: optimistically, or in full for one of these reasons
 *
 * - `option`: the transport's option says so
 * - `responder`: the peer proposes
 * - `unencrypted`: there is no encrypter, so the muxer is proposed first
 * - `refused`: the address refused an optimistic dial `ago` ms ago
 * - `redial`: the peer has just refused one
 */
export type DialMode =
  { name: 'optimistic', negotiation: OptimisticNegotiation } |
  { name: 'option' | 'responder' | 'unencrypted' | 'redial', negotiation?: undefined } |
  { name: 'refused', ago: number, negotiation?: undefined }

/** `refusedAgo` is how long ago the address refused an optimistic dial, in ms, if it did */
export function chooseDialMode (transport: { optimistic?: boolean }, dial: object, refusedAgo?: number): DialMode {
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

  if (refusedAgo != null) {
    return { name: 'refused', ago: refusedAgo }
  }

  return { name: 'optimistic', negotiation: new OptimisticNegotiation() }
}

const IN_FULL = {
  option: 'the option `optimistic` of the transport is false',
  responder: 'the peer proposes, since the dial has `initiator: false`',
  unencrypted: 'the dial has `skipEncryption: true`',
  redial: 'the peer refused the optimistic dial just before'
}

/** For a line of the log: how it was negotiated, and why or with which outcome */
export function describeDialMode (mode: DialMode): string {
  if (mode.name === 'optimistic') {
    return describeNegotiation(mode.negotiation)
  }

  if (mode.name === 'refused') {
    return `in full: the address refused an optimistic dial ${Math.floor(mode.ago / 60_000)} minutes ago`
  }

  return `in full: ${IN_FULL[mode.name]}`
}

const OUTCOMES = {
  verified: 'the peer accepted',
  refused: 'the peer refused',
  awaiting: 'the peer did not answer'
}

/** The bytes of the first write decide whether there is anything to propose early */
function describeNegotiation ({ protocol, state }: OptimisticNegotiation): string {
  if (state === 'undecided') {
    return 'ended before anything was sent'
  }

  if (state === 'passing') {
    return protocol === PLAINTEXT
      ? `in full: ${PLAINTEXT} has no handshake to send early`
      : 'in full: the first bytes are no proposal, as in a private network'
  }

  return `optimistic: ${OUTCOMES[state]} ${protocol}`
}
