import { currentVersions } from '../current-stack.ts'
import { messageStreams } from '../generation.ts'
import { libp2pPeer } from '../libp2p-peer.ts'
import type { Rival } from '../rival.ts'

export const rival: Rival = {
  name: 'official',
  title: 'libp2p 3, @libp2p/tcp 11 (official today)',
  versions: () => currentVersions('@libp2p/tcp'),
  async open (role) {
    const [{ createLibp2p }, { tcp }, { noise }, { yamux }, { multiaddr }] = await Promise.all([
      import('libp2p'),
      import('@libp2p/tcp'),
      import('@libp2p/noise'),
      import('@libp2p/yamux'),
      import('@multiformats/multiaddr')
    ])

    return libp2pPeer({
      createLibp2p,
      multiaddr,
      generation: messageStreams,
      options: {
        transports: [tcp()],
        connectionEncrypters: [noise()],
        streamMuxers: [yamux()]
      }
    }, role)
  }
}
