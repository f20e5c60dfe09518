import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { contenderNamed } from '../../../../benchmarks/contenders/registry.ts'
import { profileRow } from '../../../../benchmarks/throughput/profile-row.ts'
import { profilesText } from '../../../../benchmarks/throughput/profiles.ts'
import { rowNamed } from '../../../../benchmarks/throughput/rows/registry.ts'

describe('benchmarks: profiles', function () {
  this.timeout(60_000)

  it('are written by both ends when those are ended, and cover the work alone', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'cpu-profiles-'))

    try {
      const profiles = await profileRow(rowNamed('send-only'), contenderNamed('connection', 'net'), 10_000, 200, directory)
      const [dialler] = profiles

      expect(profiles.map(({ rival, end }) => `${rival} ${end}`)).to.deep.equal(['net dialler', 'net listener'])
      expect(dialler.places.get('kernel write')).to.be.above(0.1)
      // to load modules is no part of it
      expect([...dialler.functions.keys()].filter(name => name.includes('modules/esm'))).to.be.empty()

      for (const { places } of profiles) {
        expect([...places.values()].reduce((sum, share) => sum + share, 0)).to.be.closeTo(1, 1e-9)
      }
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('list places by the largest share that any end has, and sum up the small ones', () => {
    const text = profilesText([
      { rival: 'net', end: 'dialler', places: new Map([['kernel write', 0.9], ['idle', 0.096], ['other', 0.004]]), functions: new Map([['writev', 0.9]]) },
      { rival: 'ours', end: 'listener', places: new Map([['idle', 1]]), functions: new Map([['(idle)', 1]]) }
    ])

    expect(text).to.match(/^idle +9\.6 +100\.0\nkernel write +90\.0 +0\.0\nthe rest +0\.4 +0\.0$/m)
    expect(text).to.include('raw net, dialler: 90.0 writev')
  })
})
