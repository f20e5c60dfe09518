import { expect } from 'aegir/chai'
import { checkKernel } from '../../src/linux/check-kernel.ts'
import { LinuxUnavailableError, linux } from '../../src/linux/index.ts'
import { loadLibc } from '../../src/linux/load-libc.ts'
import { FAST_OPEN_DIAL, fastOpenListen } from '../../src/linux/socket-options.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { itIf } from '../fixtures/skip.ts'
import { canDial, skipped } from './fixtures/availability.ts'
import { failingLibc } from './fixtures/failing-libc.ts'

describe('linux() where something is missing', () => {
  const defer = cleanUpAfterEach()

  function pretend (name: 'platform' | 'arch', value: string): void {
    const descriptor = Object.getOwnPropertyDescriptor(process, name) ?? {}
    Object.defineProperty(process, name, { ...descriptor, value })
    defer(() => { Object.defineProperty(process, name, descriptor) })
  }

  function errorOf (act: () => unknown): LinuxUnavailableError {
    try {
      act()
    } catch (err: any) {
      expect(err).to.be.an.instanceOf(LinuxUnavailableError)
      return err
    }

    throw new Error('It threw nothing')
  }

  for (const [name, value] of [['platform', 'darwin'], ['platform', 'win32'], ['arch', 'mips']] as const) {
    it(`says so: ${name} ${value}`, () => {
      pretend(name, value)
      const error = errorOf(() => linux())

      expect(error).to.have.property('missing', 'linux')
      expect(error.message).to.include(value)
    })
  }

  it('says so: neither koffi nor node:ffi', () => {
    const error = errorOf(() => loadLibc([() => { throw new Error('no koffi') }, () => { throw new Error('no ffi') }]))

    expect(error).to.have.property('missing', 'library')
    expect(error.message).to.include('npm install koffi')
    expect(error.cause).to.be.an.instanceOf(AggregateError)
  })

  for (const nth of [1, 2]) {
    itIf(canDial)(`says so: the kernel refuses the ${nth === 1 ? 'option of dialers' : 'option of listeners'}${skipped(canDial)}`, async () => {
      const error = errorOf(() => { checkKernel(failingLibc('setOption', nth, 95), [FAST_OPEN_DIAL, ...fastOpenListen(1)]) })

      expect(error).to.have.property('missing', 'kernel')
      expect(error.message).to.include('net.ipv4.tcp_fastopen').and.match(/E(OP)?NOTSUPP?/)
    })
  }

  for (const queue of [0, -1, 1.5, NaN, Infinity, '3']) {
    it(`says so: a queue of ${queue}`, () => {
      expect(() => linux({ fastOpen: { queue: queue as number } })).to.throw().with.property('name', 'InvalidParametersError')
    })
  }
})
