import { Yamux } from './factory.ts'
import { yamuxSettings } from './settings.ts'
import type { YamuxComponents } from './factory.ts'
import type { YamuxMuxer } from './muxer.ts'
import type { YamuxOptions } from './options.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

/**
 * Makes the muxer, for `streamMuxers` of `createLibp2p`. It takes the place of `yamux()` of `@libp2p/yamux`, over any
 * transport and encrypter.
 *
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
 */
export function yamux (init?: YamuxOptions): (components?: YamuxComponents) => StreamMuxerFactory<YamuxMuxer> {
  const settings = yamuxSettings(init)

  return components => new Yamux(settings, components)
}
