import { readFileSync } from 'node:fs'
import path from 'node:path'
import { packageRoot } from '../../script-path.ts'
import type { PeerName } from './build.ts'

interface Lock {
  file: string
  packages: string[]

  /**
   * What stands around the version of a package.
   */
  prefix(name: string): string
  delimiter: RegExp
}

const LOCKS: Record<PeerName, Lock> = {
  go: {
    file: 'go.mod',
    packages: ['github.com/libp2p/go-libp2p', 'github.com/libp2p/go-yamux/v5', 'github.com/multiformats/go-multistream'],
    prefix: name => `${name} v`,
    delimiter: /\s/
  },
  rust: {
    file: 'Cargo.lock',
    packages: ['libp2p', 'libp2p-noise', 'libp2p-tls', 'libp2p-yamux', 'multistream-select'],
    prefix: name => `name = "${name}"\nversion = "`,
    delimiter: /"/
  }
}

/**
 * The versions that a peer is built from, by package.
 */
export function lockedVersions (name: PeerName): Record<string, string> {
  const { file, packages, prefix, delimiter } = LOCKS[name]
  const text = readFileSync(path.join(packageRoot(), 'benchmarks', 'rivals', name, file), 'utf8')

  return Object.fromEntries(packages.map(name => [name, text.split(prefix(name))[1]?.split(delimiter)[0] ?? 'unknown']))
}
