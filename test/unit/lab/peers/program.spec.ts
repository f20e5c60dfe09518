import { existsSync } from 'node:fs'
import { cp, symlink } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { cleanUpAfterEach, temporaryDirectory } from '../../../fixtures/cleanup.ts'
import { skipUnless } from '../../../fixtures/skip.ts'
import { binaryOf } from '../../../lab/peers/build.ts'
import { openProgram, runProgram } from '../../../lab/peers/program.ts'
import { selectContenders } from '../../../lab/peers/registry.ts'
import { lockedVersions } from '../../../lab/peers/versions.ts'
import { packageRoot } from '../../../lab/script-path.ts'
import { sum } from '../../../lab/statistics.ts'
import type { Wait } from '../../../../benchmarks/load/report.ts'

describe('benchmarks: programs in other languages', () => {
  const defer = cleanUpAfterEach()

  it('are timed where they are named, since their first build takes minutes', () => {
    expect(selectContenders('connect').map(({ name }) => name)).to.include.members(['official', 'ours']).and.to.not.include.oneOf(['go', 'rust'])
  })

  it('are left out where there is no toolchain, and a line says so', async () => {
    const clone = await temporaryDirectory(defer)

    // a clone in which nothing is built yet
    await Promise.all(['package.json', 'src', 'test', 'benchmarks'].map(async name => cp(path.join(packageRoot(), name), path.join(clone, name), {
      recursive: true,
      filter: source => !['node_modules', '.bin', 'results'].includes(path.basename(source))
    })))
    await symlink(path.join(packageRoot(), 'node_modules'), path.join(clone, 'node_modules'))

    const { stdout } = await execa(process.execPath, ['benchmarks/cli.ts', '--rivals', 'go,rust,floor', '--delay', '0', '--runs', '1', '--out', clone], { cwd: clone, env: { PATH: '' } })

    expect(stdout).to.include('- Left out: go, there is no working go on this machine\n- Left out: rust, there is no working cargo on this machine')
    expect(stdout).to.match(/^\| floor /m)
  })

  it('say what they are built from', () => {
    expect(Object.values(lockedVersions('go'))).to.not.be.empty()
    expect(Object.values({ ...lockedVersions('go'), ...lockedVersions('rust') }).filter(version => !/^\d+\.\d+\.\d+/.test(version))).to.deep.equal([])
  })

  it('have a dial that fails where the program ends', async () => {
    for (const binary of ['false', '/there/is/no/such/program']) {
      const peer = openProgram(binary)

      await expect(peer.firstByte('/ip4/127.0.0.1/tcp/1')).to.eventually.be.rejectedWith(`${binary} has ended`)
      await peer.close()
    }
  })

  for (const name of ['go', 'rust'] as const) {
    describe(`${name} (needs its peer: node test/lab/peers/build.ts)`, () => {
      skipUnless(existsSync(binaryOf(name)))

      it('dials when it is told to, and tells the steps that it knows', async () => {
        const [listener, dialer] = [openProgram(binaryOf(name)), openProgram(binaryOf(name))]

        try {
          const [multiaddr] = await listener.listen(['127.0.0.1'])

          for (let i = 0; i < 2; i++) {
            const sample = await dialer.firstByte(multiaddr)

            expect(sample).to.have.all.keys('stream', 'firstByte', 'total', 'close')
            expect(sample.total).to.be.above(sample.stream + sample.firstByte)
            expect(sample.firstByte).to.be.above(0)
          }
        } finally {
          await Promise.all([dialer.close(), listener.close()])
        }
      })

      it('uploads beside an old stream and new ones, and tells how both ends fared', async () => {
        const listener = runProgram([binaryOf(name), 'listen'])

        try {
          const { multiaddr } = await listener.nextLine()
          const dialer = runProgram([binaryOf(name), 'load', multiaddr, '--uploads', '2', '--ms', '1500'])
          const { idle, lived, error, rss, waits } = await dialer.nextLine()

          await dialer.end()
          listener.write('arrived')
          const { uploads, early } = await listener.nextLine()

          expect(error).to.equal(undefined)
          expect(idle).to.be.above(0)
          expect(lived).to.be.within(1_500, 10_000)
          expect(rss).to.be.above(2 ** 20)
          expect(waits.filter(({ kind, ms }: Wait) => kind === 'echo' && ms != null)).to.have.length.above(5)
          expect(waits.filter(({ kind, ms }: Wait) => kind === 'stream' && ms != null)).to.have.length.within(1, 2)
          expect(uploads).to.have.length(2)
          expect(Math.min(...uploads)).to.be.above(2 ** 20)
          expect(early).to.be.within(0.5 * sum(uploads) / lived, 1.5 * sum(uploads) / lived)
        } finally {
          await listener.end()
        }
      })

      it('tells what ended the connection while it uploads', async () => {
        const listener = runProgram([binaryOf(name), 'listen'])
        const { multiaddr } = await listener.nextLine()
        const dialer = runProgram([binaryOf(name), 'load', multiaddr, '--ms', '60000'])

        // the dialer sends once all its streams are open: a stream that has come may not be open there yet
        for (let uploads: number[] = []; sum(uploads) === 0;) {
          await wait(10)
          listener.write('arrived');
          ({ uploads } = await listener.nextLine())
        }

        await listener.end()
        const { lived, error } = await dialer.nextLine()
        await dialer.end()

        expect(error).to.be.a('string').that.is.not.empty()
        expect(lived).to.be.below(30_000)
      })

      it('says why a dial failed, and dials again', async () => {
        const [listener, dialer] = [openProgram(binaryOf(name)), openProgram(binaryOf(name))]

        try {
          const [multiaddr] = await listener.listen(['127.0.0.1'])
          const closed = multiaddr.replace(/tcp\/\d+/, 'tcp/1')

          await expect(dialer.firstByte(closed)).to.eventually.be.rejectedWith(/refused|failed to dial/i)
          await expect(dialer.firstByte(multiaddr)).to.eventually.have.property('total').that.is.above(0)
        } finally {
          await Promise.all([dialer.close(), listener.close()])
        }
      })
    })
  }
})
