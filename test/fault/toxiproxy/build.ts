import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '../../lab/script-path.ts'

/*
 * Shopify's toxiproxy, from the sources that go.sum holds the hashes of.
 */

const VERSION = 'v2.5.0'
const SOURCES = path.join(packageRoot(), 'test', 'fault', 'toxiproxy')

export const toxiproxyBinary = path.join(SOURCES, '.cache', `toxiproxy-${VERSION}${process.platform === 'win32' ? '.exe' : ''}`)

/**
 * Builds the server unless it was built before.
 *
 * @returns what is missing for it, if something is
 */
export async function buildToxiproxy (): Promise<string | undefined> {
  if (existsSync(toxiproxyBinary)) {
    return
  }

  const { failed } = await execa('go', ['version'], { reject: false })

  if (failed) {
    return 'toxiproxy is built by Go, of which there is none that works on this machine'
  }

  await mkdir(path.dirname(toxiproxyBinary), { recursive: true })
  await execa('go', ['build', '-trimpath', '-buildvcs=false', '-mod=readonly', '-o', toxiproxyBinary, 'github.com/Shopify/toxiproxy/v2/cmd/server'], {
    cwd: SOURCES,
    stderr: process.stderr
  })
}
