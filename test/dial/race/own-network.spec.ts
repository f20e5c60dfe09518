import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { testsAtOnce } from '../../fixtures/all-at-once.ts'
import { skipUnless } from '../../fixtures/skip.ts'
import { SET_UP } from './fixtures/own-network.ts'

const FOLDER = path.join(import.meta.dirname, 'own-network')

const inOwnNetwork = ['unshare', '-nm', 'sh', '-c', SET_UP, 'sh']

const works = process.env.OWN_NETWORK == null && (await execa(inOwnNetwork[0], [...inOwnNetwork.slice(1), 'true'], { reject: false })).exitCode === 0

/** Its packets can be counted, and dropped or refused by the network, without harm to anybody else */
describe(`dials in a network of their own${works ? '' : ' (SKIPPED: it cannot be made, or this is one)'}`, () => {
  skipUnless(works)

  // each has a network, and mostly waits for silent addresses
  const itAtOnce = testsAtOnce()

  for (const name of readdirSync(FOLDER).filter(name => /\.spec\.[jt]s$/.test(name))) {
    itAtOnce(name, async () => {
      const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'))
      const [file, ...args] = [...inOwnNetwork, process.execPath, mocha, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--exit', path.join(FOLDER, name)]
      const { exitCode, all } = await execa(file, args, { env: { OWN_NETWORK: 'true' }, reject: false, all: true })

      expect(exitCode).to.equal(0, all)
    }).timeout(240_000)
  }
})
