import { existsSync } from 'node:fs'
import { expect } from 'aegir/chai'
import { skipUnless } from '../../fixtures/skip.ts'
import { interrupt } from './interrupt.ts'

const canRelay = process.getuid?.() === 0 && existsSync('/dev/net/tun') && existsSync('/usr/bin/socat')

describe('benchmarks: interrupted (needs Linux)', function () {
  this.timeout(60_000)

  skipUnless(process.platform === 'linux')

  for (const [link, signal, status] of [['proxy', 'SIGINT', 130], ['relay', 'SIGKILL', null]] as const) {
    it(`no process, namespace, device or file of a ${link} is left after ${signal}${link === 'relay' ? ' (needs root and socat)' : ''}`, async function () {
      if (link === 'relay' && !canRelay) {
        return this.skip()
      }

      const left = await interrupt(['connect', '--rivals', 'floor', '--link', link, '--delay', '20', '--runs', '200'], signal, /round \d+ of 200/)

      expect(left.ran).to.be.at.least(2)
      expect(left).to.deep.include({ status, processes: [], files: [], namespaces: [] })
    })
  }
})
