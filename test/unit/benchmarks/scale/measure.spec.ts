import { expect } from 'aegir/chai'
import { parseLimits } from '../../../../benchmarks/scale/descriptors.ts'
import { Dialing } from '../../../../benchmarks/scale/dialing.ts'
import { measureConnections } from '../../../../benchmarks/scale/run.ts'
import { selectContenders } from '../../../lab/peers/registry.ts'
import type { Dialed, Peer } from '../../../lab/peers/contender.ts'

describe('benchmarks: scale', function () {
  this.timeout(60_000)

  it('dials as often as it should, one dial at a time for each address', async () => {
    const underWay = new Map<string, number>()
    const connections: Dialed[] = []
    let most = 0

    const peer = {
      async dial (address: string) {
        underWay.set(address, (underWay.get(address) ?? 0) + 1)
        most = Math.max(most, ...underWay.values())
        await new Promise(resolve => setImmediate(resolve))
        underWay.set(address, (underWay.get(address) ?? 0) - 1)

        return { open: async () => { throw new Error('Not now') }, close: async () => {} }
      }
    } satisfies Partial<Peer>

    const dialing = new Dialing(peer as unknown as Peer)

    expect(await dialing.dial(['a', 'b', 'c'], 10, connections)).to.be.above(0)
    expect(connections).to.have.length(10)
    expect(most).to.equal(1)

    const { p50, p99 } = dialing.take()
    expect(p50).to.be.above(0).and.at.most(p99)
    expect(dialing.take().p99, 'since then').to.equal(0)
  })

  it('knows how many files may be open', () => {
    expect(parseLimits('Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 20000                files     \n')).to.equal(20_000)
    expect(parseLimits('Max open files            1024                 unlimited            files     \n')).to.equal(Infinity)
    expect(parseLimits('')).to.equal(Infinity)
  })

  // one of each kind: the others differ in what they are made of
  for (const contender of selectContenders('scale', { rivals: ['net', 'ours'] })) {
    it(`opens and closes connections of ${contender.name} at the ${contender.level} level`, async () => {
      const told: number[] = []
      const idle = contender.name === 'net' ? 1_200 : 0
      const measurements = await measureConnections(contender, 20, idle, milliseconds => { told.push(milliseconds) })
      const value = (metric: string): number => measurements.find(measurement => measurement.metric === metric)?.value ?? NaN

      expect(value('dial rate')).to.be.above(0)
      expect(value('dropped')).to.equal(0)
      expect(value('close time')).to.be.above(0)
      expect(value('close cpu')).to.be.above(0)
      // every second for how long they have been idle
      expect(told.length > 0, 'told').to.equal(idle > 1_000)
    })
  }
})
