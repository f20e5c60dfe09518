import { currentVersions } from './current-stack.ts'
import { messageStreams } from './generation.ts'
import { ourVersion } from './installed.ts'
import { libp2pPeer } from './libp2p-peer.ts'
import type { Rival } from './rival.ts'

export interface OurStackInit {
  name: string
  title: string

  /**
   * Who negotiates optimistically: nobody (noDelay and CLOSE_TIMEOUT alone), the
   * transport (security), or the muxer and streams too.
   */
  optimism: 'none' | 'transport' | 'all'
}

/**
 * The libp2p that the project is developed with, over the project's transport.
 */
export function ourStack ({ name, title, optimism }: OurStackInit): Rival {
  return {
    name,
    title,
    versions: () => ({ ...ourVersion(), ...currentVersions() }),
    async open (role) {
      const [{ createLibp2p }, { tcp, optimistic }, { noise }, { yamux }, { multiaddr }] = await Promise.all([
        import('libp2p'),
        import('../../src/index.ts'),
        import('@libp2p/noise'),
        import('@libp2p/yamux'),
        import('@multiformats/multiaddr')
      ])
      const all = optimism === 'all'

      return libp2pPeer({
        createLibp2p,
        multiaddr,
        generation: messageStreams,
        options: {
          transports: [tcp({ optimistic: optimism !== 'none' })],
          connectionEncrypters: [all ? optimistic(noise()) : noise()],
          streamMuxers: [all ? optimistic(yamux()) : yamux()]
        },
        streamOptions: all ? { negotiateFully: false } : {}
      }, role)
    }
  }
}
