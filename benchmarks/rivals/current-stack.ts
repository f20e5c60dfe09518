import { packageRoot } from '../script-path.ts'
import { installedVersions } from './installed.ts'

const STACK = ['libp2p', '@libp2p/noise', '@libp2p/yamux', '@libp2p/multistream-select']

/**
 * The versions of the libp2p that the project itself is developed with.
 */
export function currentVersions (...packages: string[]): Record<string, string> {
  return installedVersions(packageRoot(), [...STACK, ...packages])
}
