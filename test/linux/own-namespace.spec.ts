import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { skipUnless } from '../fixtures/skip.ts'

/** In a namespace of this test alone, where hosts that dial and listen have Fast Open */
const SET_UP = 'ip link set lo up && sysctl -qw net.ipv4.tcp_fastopen=3 && exec "$@"'

const works = process.env.OWN_NAMESPACE == null && (await execa('unshare', ['-n', 'sh', '-c', SET_UP, 'sh', 'true'], { reject: false })).exitCode === 0

describe(`Fast Open in a network namespace of its own${works ? '' : ' (SKIPPED: it cannot be made, or this is one)'}`, () => {
  skipUnless(works)

  const itAtOnce = testsAtOnce()
  const specs = readdirSync(import.meta.dirname)
    .map(name => path.join(import.meta.dirname, name))
    .filter(file => file.endsWith('.spec.ts') && /^import .*\bcanListen\b/m.test(readFileSync(file, 'utf8')))

  // the race takes as long as all others
  const passes = async (specs: string[]): Promise<void> => {
    const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'))
    const { exitCode, all } = await execa('unshare', ['-n', 'sh', '-c', SET_UP, 'sh', process.execPath, mocha, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--exit', ...specs], {
      env: { OWN_NAMESPACE: 'true' }, reject: false, all: true
    })

    expect(exitCode).to.equal(0, all)
  }

  itAtOnce('passes the race of addresses', async () => passes(specs.filter(file => file.includes('race')))).timeout(240_000)
  itAtOnce('passes the other specs that need listeners with Fast Open', async () => passes(specs.filter(file => !file.includes('race')))).timeout(240_000)
})
