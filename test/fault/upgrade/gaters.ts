import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { ConnectionGater } from '@libp2p/interface'

/** How long a gater takes for each answer */
export const WAITS = {
  '0 ms': async () => delay(0),
  '1 ms': async () => delay(1),
  '5 ms': async () => delay(5),
  '50 ms': async () => delay(50),
  'a file': async () => readFile(import.meta.filename)
}

/** libp2p's methods, in the order in which an upgrade asks them */
export const METHODS = {
  dialer: ['denyDialPeer', 'denyDialMultiaddr', 'denyOutboundConnection', 'denyOutboundEncryptedConnection', 'denyOutboundUpgradedConnection'],
  listener: ['denyInboundConnection', 'denyInboundEncryptedConnection', 'denyInboundUpgradedConnection']
} as const

export type GaterMethod = (typeof METHODS)[keyof typeof METHODS][number]

/** A gater that looks something up, and denies nothing. `onAsked` is called with the arguments of each question */
export function slowGater (methods: readonly GaterMethod[], wait: () => Promise<unknown>, onAsked?: (args: unknown[]) => void): ConnectionGater {
  return Object.fromEntries(methods.map(method => [method, async (...args: unknown[]) => {
    onAsked?.(args)
    await wait()

    return false
  }]))
}
