import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'

const directory = import.meta.dirname
const root = path.resolve(directory, '../..')
const modules = path.join(directory, 'node_modules')

/**
 * Installs what the programs need, unless it is there, and puts the built package
 * among it, as npm would.
 */
export async function install (): Promise<void> {
  const lock = await readFile(path.join(directory, 'package-lock.json'), 'utf8')
  const stamp = path.join(modules, '.installed')

  if (!existsSync(stamp) || await readFile(stamp, 'utf8') !== lock) {
    await execa('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: directory, stdout: 'inherit' })
    await writeFile(stamp, lock)
  }

  if (!existsSync(path.join(root, 'dist/src/index.js'))) {
    throw new Error('There is no dist: npm run build')
  }

  const target = path.join(modules, 'libp2p-fast-tcp')

  await rm(target, { recursive: true, force: true })
  await mkdir(path.join(target, 'dist'), { recursive: true })
  await cp(path.join(root, 'dist/src'), path.join(target, 'dist/src'), { recursive: true })
  await cp(path.join(root, 'package.json'), path.join(target, 'package.json'))
}

/** The installed version of a package */
export async function versionOf (name: string): Promise<string> {
  return JSON.parse(await readFile(path.join(modules, name, 'package.json'), 'utf8')).version
}
