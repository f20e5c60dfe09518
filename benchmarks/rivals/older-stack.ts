import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '../script-path.ts'
import { iterableStreams } from './generation.ts'
import { importInstalled, installedVersions } from './installed.ts'
import { libp2pPeer } from './libp2p-peer.ts'
import type { Rival } from './rival.ts'

export interface OlderStackInit {
  /**
   * Also the folder that holds its package.json and lock file.
   */
  name: string
  title: string

  /**
   * What `createLibp2p` of its time calls the list of encrypters.
   */
  encryptersOption: string
}

const STACK = ['libp2p', '@libp2p/tcp', '@chainsafe/libp2p-noise', '@chainsafe/libp2p-yamux', '@libp2p/multistream-select']

/**
 * A stack of libp2p 1 or 2, installed apart on first use.
 */
export function olderStack ({ name, title, encryptersOption }: OlderStackInit): Rival {
  const directory = path.join(packageRoot(), 'benchmarks', 'rivals', name)

  return {
    name,
    title,
    versions: () => installedVersions(directory, STACK),

    async prepare (onProgress) {
      if (!isInstalled(directory)) {
        onProgress(`installing ${title} on first use`)
        // npm would leave its compile cache in the folder for temporary files
        await execa('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, env: { NODE_DISABLE_COMPILE_CACHE: '1' } })
      }
    },

    async open (role) {
      const [{ createLibp2p }, { tcp }, { noise }, { yamux }, { multiaddr }] = await Promise.all([
        'libp2p',
        '@libp2p/tcp',
        '@chainsafe/libp2p-noise',
        '@chainsafe/libp2p-yamux',
        '@multiformats/multiaddr'
      ].map(async name => importInstalled(directory, name)))

      return libp2pPeer({
        createLibp2p,
        multiaddr,
        generation: iterableStreams,
        options: {
          transports: [tcp()],
          [encryptersOption]: [noise()],
          streamMuxers: [yamux()]
        }
      }, role)
    }
  }
}

/**
 * npm writes a lock file of its own when it has finished
 */
function isInstalled (directory: string): boolean {
  const installed = path.join(directory, 'node_modules', '.package-lock.json')

  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(path.join(directory, 'package-lock.json')).mtimeMs
}
