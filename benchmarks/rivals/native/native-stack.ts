import { buildPeer, binaryOf } from './build.ts'
import { nativePeer } from './native-peer.ts'
import { lockedVersions } from './versions.ts'
import type { PeerName } from './build.ts'
import type { Rival } from '../rival.ts'

/**
 * An implementation of libp2p in another language, built on first use from the
 * sources in the folder of its name.
 */
export function nativeStack ({ name, title }: { name: PeerName, title: string }): Rival {
  return {
    name,
    title,
    // a cold build takes minutes: 5 for rust, on two cores
    onlyIfNamed: true,
    versions: () => lockedVersions(name),

    async prepare (onProgress) {
      const built = await buildPeer(name, () => { onProgress(`building the ${name} peer on first use, which may take minutes`) })

      if (built.status === 'missing-toolchain') {
        throw new Error(`there is no working ${built.toolchain} on this machine`)
      }
    },

    open: async role => nativePeer(binaryOf(name), role)
  }
}
