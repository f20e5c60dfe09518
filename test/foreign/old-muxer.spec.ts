import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import type { Refusals } from './fixtures/refusals.ts'

const fixture = (name: string): string => path.join(import.meta.dirname, 'fixtures', name)

describe('optimistic() around a muxer that was made for libp2p 2', function () {
  this.timeout(60_000)

  it('rejects the dial with a typed error that says what to install, and warns once, since libp2p drops the error of a listener', async () => {
    const { stdout } = await execa(process.execPath, [fixture('refusals.ts'), fixture('muxer-of-libp2p-2.ts')], { env: { NODE_NO_WARNINGS: '1', NODE_OPTIONS: '' } })
    const { dialer, warnings }: Refusals = JSON.parse(stdout)

    expect(dialer).to.include('IncompatibleMuxerError').and.include('Install @libp2p/yamux 8.0.3')
    expect(warnings).to.have.lengthOf(1)
    expect(dialer).to.include(warnings[0])
  })
})
