import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '../../benchmarks/script-path.ts'

const JS_PACKAGES = ['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/tls', '@libp2p/yamux', '@libp2p/identify', '@libp2p/multistream-select']
const GO_MODULES = ['github.com/libp2p/go-libp2p', 'github.com/libp2p/go-yamux/v5', 'github.com/multiformats/go-multistream']
const RUST_CRATES = ['libp2p', 'libp2p-noise', 'libp2p-tls', 'libp2p-yamux', 'multistream-select']

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
      ...Object.fromEntries(GO_MODULES.map(name => [name, lockedVersion('go/go.mod', `${name} v`, /\s/)]))
    },
    rust: {
      rustc: await firstLine('rustc', '--version'),
      ...Object.fromEntries(RUST_CRATES.map(name => [name, lockedVersion('rust/Cargo.lock', `name = "${name}"\nversion = "`, /"/)]))
    }
  }
}

function manifestVersion (file: string): string {
  return JSON.parse(read(file)).version
}

/** What stands between a prefix and the delimiter in a lock file of the peers */
function lockedVersion (file: string, prefix: string, delimiter: RegExp): string {
  return read(`test/interop/${file}`).split(prefix)[1]?.split(delimiter)[0] ?? 'unknown'
}

function read (file: string): string {
  return readFileSync(path.join(packageRoot(), file), 'utf8')
}

async function firstLine (file: string, ...args: string[]): Promise<string> {
  const { stdout = '' } = await execa(file, args, { reject: false, cwd: packageRoot(), stdin: 'ignore' })

  return stdout.split('\n')[0]
}
