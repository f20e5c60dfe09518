import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'

const HERE = import.meta.dirname
const ROOT = path.resolve(HERE, '../..')

/** Installs what the programs need, unless it is there, and puts the built package among it, as npm would */
export async function install (): Promise<void> {
  const modules = path.join(HERE, 'node_modules')
  const stamp = path.join(modules, '.installed')
  const target = path.join(modules, 'libp2p-fast-tcp')
  const lock = await readFile(path.join(HERE, 'package-lock.json'), 'utf8')

  if (!existsSync(stamp) || await readFile(stamp, 'utf8') !== lock) {
    await execa('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: HERE, stdout: 'inherit' })
    await writeFile(stamp, lock)
  }

  await rm(target, { recursive: true, force: true })
  await mkdir(path.join(target, 'dist'), { recursive: true })
  await cp(path.join(ROOT, 'dist/src'), path.join(target, 'dist/src'), { recursive: true })
  await cp(path.join(ROOT, 'package.json'), path.join(target, 'package.json'))
}
