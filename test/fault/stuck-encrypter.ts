import { raceSignal } from 'race-signal'
import type { EncrypterFactory } from '../negotiation/fixtures/early-muxer.ts'

/**
 * An encrypter that tells when it is to secure a connection of this direction, or when it has done so, and goes no further: the other
 * end waits for what comes next
 */
export function stuckEncrypter (factory: EncrypterFactory, direction: 'inbound' | 'outbound', when: 'before' | 'after', stuck: () => void): EncrypterFactory {
  return components => {
    const encrypter = factory(components)
    const secure = async <T> (own: typeof direction, secured: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
      if (own !== direction) {
        return secured()
      }

      if (when === 'after') {
        await secured()
      }

      stuck()

      return raceSignal(new Promise<never>(() => {}), signal)
    }

    return {
      protocol: encrypter.protocol,
      secureInbound: async (stream, options) => secure('inbound', async () => encrypter.secureInbound(stream, options), options?.signal),
      secureOutbound: async (stream, options) => secure('outbound', async () => encrypter.secureOutbound(stream, options), options?.signal)
    }
  }
}
