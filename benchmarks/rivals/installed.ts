import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../script-path.ts'

/**
 * The versions of packages that are installed below a directory.
 */
export function installedVersions (directory: string, packages: string[]): Record<string, string> {
  return Object.fromEntries(packages.map(name => [name, manifest(directory, name).version]))
}

/**
 * The version of this package, by its name.
 */
export function ourVersion (): Record<string, string> {
  const { name, version } = JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8'))

  return { [name]: version }
}

/**
 * Imports a package as a module in that directory would. A module of ours is in
 * another place when it is run from `dist`, and TypeScript would take the types
 * of the newest version for those of every version.
 */
export async function importInstalled (directory: string, name: string): Promise<any> {
  const { exports, main } = manifest(directory, name)
  const entry = exports?.['.'] ?? exports ?? main
  const file: string = typeof entry === 'string' ? entry : entry.import

  return import(pathToFileURL(path.join(packageDirectory(directory, name), file)).href)
}

function manifest (directory: string, name: string): any {
  return JSON.parse(readFileSync(path.join(packageDirectory(directory, name), 'package.json'), 'utf8'))
}

function packageDirectory (directory: string, name: string): string {
  return path.join(directory, 'node_modules', name)
}
