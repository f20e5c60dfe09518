import { readFileSync } from 'node:fs'
import { expect } from 'aegir/chai'
import { startPair } from '../../../../benchmarks/throughput/pair.ts'
import { rowNamed } from '../../../../benchmarks/throughput/rows/registry.ts'
import { contenderNamed } from '../../../lab/peers/registry.ts'
import { parseCores, whyNoOwnCores } from '../../../lab/process/own-core.ts'

describe('benchmarks: a core for each end', () => {
  it('reads lists of cores', () => {
    expect(parseCores('0-1')).to.deep.equal([0, 1])
    expect(parseCores('0-2,5,8-9')).to.deep.equal([0, 1, 2, 5, 8, 9])
    expect(parseCores('3')).to.deep.equal([3])
    expect(parseCores('')).to.deep.equal([])
  })

  it('keeps them apart (needs taskset and two cores)', async function () {
    if (whyNoOwnCores() != null) {
      return this.skip()
    }

    const pair = await startPair(contenderNamed('connection', 'net'), rowNamed('small'))

    try {
      const [dialer, listener] = [pair.dialer, pair.listener].map(({ pid }) => (
        /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      ))

      expect(dialer).to.match(/^\d+$/)
      expect(listener).to.match(/^\d+$/)
      expect(dialer).to.not.equal(listener)
    } finally {
      await pair.end()
    }
  }).timeout(60_000)
})
