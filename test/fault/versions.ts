import { readFileSync } from 'node:fs'
import path from 'node:path'
import { packageRoot } from '../lab/script-path.ts'

const PACKAGES = ['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/yamux']

export function installedVersions (): Record<string, string> {
  return Object.fromEntries(PACKAGES.map(name => [name, JSON.parse(readFileSync(path.join(packageRoot(), 'node_modules', name, 'package.json'), 'utf8')).version]))
}
