import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { packageRoot, scriptPath } from '../lab/script-path.ts'
import { canUseLinux } from '../linux/fixtures/availability.ts'
import { fences } from './fixtures/markdown.ts'

const root = packageRoot()
const read = (page: string): string => readFileSync(path.join(root, page), 'utf8')
const [helia, lodestar] = fences(read('docs/guide.md'), 'ts')

/** What a snippet needs that a system may lack */
const PROGRAMS = {
  'README.md': { snippet: fences(read('README.md'), 'ts')[0], isPossible: true },
  'docs/guide.md, for Lodestar': { snippet: lodestar, isPossible: true },
  'docs/nat.md': { snippet: fences(read('docs/nat.md'), 'ts')[0], isPossible: canReusePort }
}

/** Two nodes with the options for Helia: one pings the other twice */
const PINGS = `
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { createLibp2p } from 'libp2p'

const services = { identify: identify(), ping: ping() }
const [dialer, listener] = await Promise.all([1, 2].map(async () => createLibp2p({ ...libp2p, services })))

await dialer.services.ping.ping(listener.getMultiaddrs())
await dialer.services.ping.ping(listener.peerId)
await Promise.all([dialer.stop(), listener.stop()])`

/** Runs it as a reader copies it, but at any free port of this machine, and gives what it logs */
async function run (program: string): Promise<string> {
  const { stderr } = await execa(process.execPath, [
    '--input-type=module-typescript',
    '--no-warnings',
    '--import', scriptPath(import.meta.url, 'fixtures/from-source'),
    '--eval', program.replaceAll('/0.0.0.0/', '/127.0.0.1/').replaceAll('/::/', '/::1/').replaceAll(/tcp\/\d+/g, 'tcp/0')
  ], { cwd: root, env: { DEBUG: 'libp2p:tcp,libp2p:tcp:connection:*' }, timeout: 30_000 })

  return stderr
}

describe('the programs in the documents', () => {
  for (const [name, { snippet, isPossible }] of Object.entries(PROGRAMS)) {
    it(`that of ${name} runs`, async function () {
      if (!isPossible) {
        return this.skip()
      }

      expect(await run(`${snippet}\nawait node.stop()`)).to.not.include('error')
    })
  }

  it('that of docs/linux.md runs', async function () {
    if (!canUseLinux) {
      return this.skip()
    }

    await run(fences(read('docs/linux.md'), 'ts')[0].replace(", congestion: 'bbr'", ''))
  })

  it('the options of docs/guide.md let two nodes ping each other, who log the lines that it shows', async () => {
    const log = (await run(helia + PINGS)).split('\n')
    const [lines] = fences(read('docs/guide.md'), '')
    const isLogged = (parts: string[]): boolean => log.some(line => parts.every(part => line.includes(part)))

    expect(lines.trim().split('\n').map(line => isLogged(line.split('…')))).to.deep.equal([true, true, true])
  })
})
