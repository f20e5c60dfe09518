import { fileURLToPath } from 'node:url'
import { expect } from 'aegir/chai'
import { execa } from 'execa'

/** In a namespace of this test alone the kernel can choose only one port to dial from */
const PORT = 40_000
const SET_UP = `ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range="${PORT} ${PORT}" && exec "$@"`

const works = (await execa('unshare', ['-n', 'sh', '-c', SET_UP, 'sh', 'true'], { reject: false })).exitCode === 0

describe(`a dial of a port where nobody listens, and that the kernel happens to choose for the dial${works ? '' : ' (SKIPPED: no network namespace can be made)'}`, () => {
  it('is an error: the socket is connected to itself (fault 10)', async function () {
    this.timeout(20_000)

    if (!works) {
      return this.skip()
    }

    const child = fileURLToPath(new URL('../fixtures/children/dial-own-port.ts', import.meta.url))
    const { stdout } = await execa('unshare', ['-n', 'sh', '-c', SET_UP, 'sh', process.execPath, '--no-warnings', child, `/ip4/127.0.0.1/tcp/${PORT}`])

    expect(stdout).to.equal('ConnectionFailedError ESELFCONNECT')
  })
})
