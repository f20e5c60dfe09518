import { execa } from 'execa'
import { installedVersions, lockedVersions, ourVersion } from '../lab/peers/versions.ts'
import type { Versions } from '../lab/report/page.ts'

const JS_PACKAGES = ['libp2p', '@libp2p/tcp', '@libp2p/noise', '@libp2p/tls', '@libp2p/yamux', '@libp2p/identify', '@libp2p/multistream-select']

/** Of all that take part */
export async function versions (): Promise<Versions> {
  return {
    js: { ...ourVersion(), ...installedVersions(JS_PACKAGES) },
    go: { go: await firstLine('go', 'env', 'GOVERSION'), ...lockedVersions('go') },
    rust: { rustc: await firstLine('rustc', '--version'), ...lockedVersions('rust') }
  }
}

async function firstLine (file: string, ...args: string[]): Promise<string> {
  const { stdout = '' } = await execa(file, args, { reject: false, stdin: 'ignore' })

  return stdout.split('\n')[0]
}
