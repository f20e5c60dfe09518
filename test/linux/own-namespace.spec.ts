import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { skipUnless } from '../fixtures/skip.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** In a namespace of this test alone, where hosts that dial and listen have Fast Open */
const SET_UP = 'ip link set lo up && sysctl -qw net.ipv4.tcp_fastopen=3 && exec "$@"'

const works = process.env.OWN_NAMESPACE == null && (await execa('unshare', ['-n', 'sh', '-c', SET_UP, 'sh', 'true'], { reject: false })).exitCode === 0

describe(`the tests of Fast Open in a network namespace of their own${works ? '' : ' (SKIPPED: it cannot be made, or this is one)'}`, () => {
  skipUnless(works)

  for (const name of readdirSync(HERE).filter(name => /\.spec\.[jt]s$/.test(name) && !name.startsWith('own-namespace'))) {
    it(name, async () => {
      const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'))
      const { exitCode, all } = await execa('unshare', ['-n', 'sh', '-c', SET_UP, 'sh', process.execPath, mocha, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--exit', `${HERE}${name}`], {
        env: { OWN_NAMESPACE: 'true' }, reject: false, all: true
      })

      expect(exitCode).to.equal(0, all)
    }).timeout(120_000)
  }
})
