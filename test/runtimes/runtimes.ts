import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'

export type RuntimeName = 'node22' | 'node24' | 'node26' | 'bun' | 'deno'

export interface Runtime {
  name: RuntimeName
  title: string

  /** Runs a script of TypeScript that comes behind it */
  command: string[]
}

export const RUNTIMES: RuntimeName[] = ['node22', 'node24', 'node26', 'bun', 'deno']

/** Dialer and listener: each runtime with itself, then each of the three with the two others */
export const PAIRS: Array<[RuntimeName, RuntimeName]> = [
  ...RUNTIMES.map<[RuntimeName, RuntimeName]>(name => [name, name]),
  ['node24', 'bun'],
  ['node24', 'deno'],
  ['bun', 'node24'],
  ['bun', 'deno'],
  ['deno', 'node24'],
  ['deno', 'bun']
]

const root = path.resolve(import.meta.dirname, '../..')
const cache = path.join(import.meta.dirname, '.runtimes')

/** Finds a runtime, or installs it: Node 22 and 26 come from npm */
export async function runtime (name: RuntimeName): Promise<Runtime> {
  const command = await commandOf(name)
  const { stdout } = await execa(command[0], ['--version'])

  return {
    name,
    title: name.startsWith('node') ? `Node ${stdout.slice(1)}` : `${name === 'bun' ? 'Bun' : 'Deno'} ${/\d+\.\d+\.\d+/.exec(stdout)?.[0]}`,
    command: name === 'deno' ? [...command, 'run', '--allow-all'] : command
  }
}

async function commandOf (name: RuntimeName): Promise<string[]> {
  if (!name.startsWith('node')) {
    return [path.join(root, 'node_modules/.bin', name)]
  }

  const major = name.slice(4)

  if (process.version.startsWith(`v${major}.`)) {
    return [process.execPath]
  }

  const prefix = path.join(cache, name)
  const node = path.join(prefix, 'node_modules/node/bin/node')

  if (!existsSync(node)) {
    await mkdir(prefix, { recursive: true })
    await execa('npm', ['install', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', `node@${major}`])
  }

  return [node]
}
