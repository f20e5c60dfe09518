import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { lockedVersions } from '../lab/peers/versions.ts'
import { packageRoot } from '../lab/script-path.ts'

const JS_PACKAGES = ['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/tls', '@libp2p/yamux', '@libp2p/identify', '@libp2p/multistream-select']

/**
 * Versions by name, of all that took part.
 */
export type Versions = Record<'machine' | 'js' | 'go' | 'rust', Record<string, string>>

export async function versions (): Promise<Versions> {
  return {
    machine: {
      kernel: `${os.type()} ${os.release()} ${os.arch()}`,
      processors: `${os.cpus().length} × ${os.cpus()[0]?.model.trim() ?? 'unknown'}`
    },
    js: {
      node: process.versions.node,
      'libp2p-fast-tcp': manifestVersion('package.json'),
      commit: await firstLine('git', 'describe', '--always', '--dirty'),
      ...Object.fromEntries(JS_PACKAGES.map(name => [name, manifestVersion(`node_modules/${name}/package.json`)]))
    },
    go: {
      go: await firstLine('go', 'env', 'GOVERSION'),
      ...lockedVersions('go')
    },
    rust: {
      rustc: await firstLine('rustc', '--version'),
      ...lockedVersions('rust')
    }
  }
}

function manifestVersion (file: string): string {
  return JSON.parse(readFileSync(path.join(packageRoot(), file), 'utf8')).version
}

async function firstLine (file: string, ...args: string[]): Promise<string> {
  const { stdout = '' } = await execa(file, args, { reject: false, cwd: packageRoot(), stdin: 'ignore' })

  return stdout.split('\n')[0]
}
