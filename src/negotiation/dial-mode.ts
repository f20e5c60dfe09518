import { OptimisticNegotiation, PLAINTEXT } from './connection.ts'
import type { UpgraderOptions, UpgraderWithoutEncryptionOptions } from '@libp2p/interface'

/**
 * How a dial negotiates its encrypter: optimistically, or in full
 *
 * - `option`: because the transport's option says so
 * - `responder`: because the peer proposes
 * - `unencrypted`: because there is no encrypter, and what is proposed first is the muxer
 * - `refused`: because the address has refused an optimistic dial, so many ms ago
 * - `redial`: because the peer has just refused one
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

/** For a line of the log: how it was negotiated, and why or with which outcome */
export function describeDialMode (mode: DialMode): string {
  switch (mode.name) {
    case 'optimistic':
      return describeNegotiation(mode.negotiation)
    case 'option':
      return 'in full: the option `optimistic` of the transport is false'
    case 'responder':
      return 'in full: the peer proposes, since the dial has `initiator: false`'
    case 'unencrypted':
      return 'in full: the dial has `skipEncryption: true`'
    case 'redial':
      return 'in full: the peer refused the optimistic dial just before'
    case 'refused':
      return `in full: the address refused an optimistic dial ${Math.floor(mode.ago / 60_000)} minutes ago`
  }
}

/** The bytes decide whether there is anything to be optimistic about */
function describeNegotiation ({ protocol, state }: OptimisticNegotiation): string {
  switch (state) {
    case 'verified':
      return `optimistic: the peer accepted ${protocol}`
    case 'refused':
      return `optimistic: the peer refused ${protocol}`
    case 'awaiting':
      return `optimistic: the peer did not answer ${protocol}`
    case 'undecided':
      return 'ended before anything was sent'
    case 'passing':
      return protocol === PLAINTEXT
        ? `in full: ${PLAINTEXT} has no handshake to send early`
        : 'in full: the first bytes are no proposal, as in a private network'
  }
}
