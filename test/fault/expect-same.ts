import type { Tally } from '../fixtures/bytes.ts'

/**
 * @throws {Error} unless all that was sent arrived, and nothing else
 */
export function expectSame (where: string, received: Tally & { error?: string }, sent: Tally): void {
  if (received.bytes !== sent.bytes) {
    throw new Error(`${where} less than was sent arrived${received.error == null ? '' : `, then ${received.error}`}`)
  }

  if (received.sha256 !== sent.sha256) {
    throw new Error(`${where} other bytes arrived than were sent`)
  }

  if (received.error != null) {
    throw new Error(`${where} everything arrived, then ${received.error}`)
  }
}
