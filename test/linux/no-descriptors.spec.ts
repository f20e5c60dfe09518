import { expect } from 'aegir/chai'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { itIf } from '../fixtures/skip.ts'
import { canUseLinux, skipped } from './fixtures/availability.ts'

describe('while no file descriptor is free', () => {
  const defer = cleanUpAfterEach()

  itIf(canUseLinux)(`a transport with reusePort or linux() is made, and listens and dials later${skipped(canUseLinux)}`, async () => {
    const child = runChild(defer, 'without-descriptors.ts', [], { under: ['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh'] })
    const ours = { create: 'works', listen: 'EMFILE', dial: 'EMFILE', later: 'works' }

    expect(await child.says()).to.deep.equal({
      official: { create: 'works' },
      plain: ours,
      ...canReusePort ? { reusePort: ours } : {},
      linux: ours
    })
  }).timeout(20_000)
})
