import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../script-path.ts'

/** The versions of packages that are installed below a directory. */
export function installedVersions (packages: string[], directory = packageRoot()): Record<string, string> {
  return Object.fromEntries(packages.map(name => [name, manifest(directory, name).version]))
}

/** Of the libp2p that the project is developed with. */
export function stackVersions (...packages: string[]): Record<string, string> {
  return installedVersions(['libp2p', '@libp2p/noise', '@libp2p/yamux', '@libp2p/multistream-select', '@libp2p/utils', ...packages])
}

export function ourVersion (): Record<string, string> {
  const { name, version } = JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8'))

  return { [name]: version }
}

/**
 * Imports a package as a module in that directory would. A module of ours is in another place when it is run from `dist`, and TypeScript
 * would take the types of the newest version for those of every version.
 */
export async function importInstalled (directory: string, name: string): Promise<any> {
  const { exports, main } = manifest(directory, name)
  const entry = exports?.['.'] ?? exports ?? main
  const file: string = typeof entry === 'string' ? entry : entry.import

  return import(pathToFileURL(path.join(directory, 'node_modules', name, file)).href)
}

function manifest (directory: string, name: string): any {
  return JSON.parse(readFileSync(path.join(directory, 'node_modules', name, 'package.json'), 'utf8'))
}

const LOCKS = {
  go: {
    file: 'go.mod',
    packages: ['github.com/libp2p/go-libp2p', 'github.com/libp2p/go-yamux/v5', 'github.com/multiformats/go-multistream'],
    versionOf: (name: string) => new RegExp(`${name} v(\\S+)`)
  },
  rust: {
    file: 'Cargo.lock',
    packages: ['libp2p', 'libp2p-noise', 'libp2p-tls', 'libp2p-yamux', 'multistream-select'],
    versionOf: (name: string) => new RegExp(`name = "${name}"\nversion = "([^"]+)"`)
  }
}

export function lockedVersions (name: keyof typeof LOCKS): Record<string, string> {
  const { file, packages, versionOf } = LOCKS[name]
  const text = readFileSync(path.join(packageRoot(), 'test', 'lab', 'peers', name, file), 'utf8')

  return Object.fromEntries(packages.map(name => [name, versionOf(name).exec(text)?.[1] ?? 'unknown']))
}
