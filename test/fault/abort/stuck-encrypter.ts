import { raceSignal } from 'race-signal'
import type { EncrypterFactory } from '../../negotiation/fixtures/early-muxer.ts'

/**
 * An encrypter that secures connections and then keeps them to itself, so that
 * the other end has a secured connection and waits for what comes next
 */
export function stuckAfterHandshake (factory: EncrypterFactory, direction: 'inbound' | 'outbound', secured: () => void): EncrypterFactory {
  return components => {
    const encrypter = factory(components)
    const keep = async (signal?: AbortSignal): Promise<never> => {
      secured()

      return raceSignal(new Promise(() => {}), signal)
    }

    return {
      protocol: encrypter.protocol,
      secureInbound: async (stream, options) => {
        const connection = await encrypter.secureInbound(stream, options)

        return direction === 'inbound' ? keep(options?.signal) : connection
      },
      secureOutbound: async (stream, options) => {
        const connection = await encrypter.secureOutbound(stream, options)

        return direction === 'outbound' ? keep(options?.signal) : connection
      }
    }
  }
}
