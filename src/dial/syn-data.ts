import { FIRST_WRITE_TIMEOUT } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { UpgraderWithoutEncryptionOptions } from '@libp2p/interface'

/**
 * With TCP Fast Open the SYN carries the proposal of the encrypter and the first message of the
 * handshake, in one write. So the proposal waits for that message, for so many ms at most.
 */
export const GATHER_FOR_SYN = FIRST_WRITE_TIMEOUT

/**
 * Whether the SYN of a dial may carry the first write. It must not if the peer speaks
 * first. A replayed SYN delivers its data twice, so it may hold only bytes of a handshake.
 */
export function maySynCarryData (dial: TCPDialOptions): boolean {
  const { skipEncryption }: Partial<UpgraderWithoutEncryptionOptions> = dial

  // the SYN of a hole punch must leave now
  return dial.initiator !== false && dial.reusePort !== true && skipEncryption !== true
}
