import { execFileSync, fork, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { skipUnless } from '../../../fixtures/skip.ts'
import { endNames, ownerOf } from '../../../lab/link/namespaces.ts'
import { openLink } from '../../../lab/link/open-link.ts'
import { scriptPath } from '../../../lab/script-path.ts'
import { namespacesAndDevices } from '../../benchmarks/fixtures/namespaces-and-devices.ts'
import { commandLine, processIds, readProcess } from '../../benchmarks/fixtures/processes.ts'
import type { ProbeTasks } from '../../../lab/link/probe.ts'

const canRelay = process.getuid?.() === 0 &&
  existsSync('/dev/net/tun') &&
  spawnSync('socat', ['-V']).error == null &&
  spawnSync('ip', ['netns', 'list']).status === 0

/**
 * What a link is made of, as the system lists it
 */
function leftOvers (keeper: number): string[] {
  const names = Object.values(endNames(keeper))
  const commands = processIds().map(commandLine)

  return [...namespacesAndDevices(), ...commands].filter(entry => names.some(name => entry.includes(name)))
}

function keeperOf (parent: number): number {
  const children = readProcess(parent, `task/${parent}/children`).trim().split(' ')

  return Number(children.find(pid => commandLine(pid).includes('keeper')))
}

describe('benchmarks: link', () => {
  it('measures the round trip of a proxy and says which trip it hides', async () => {
    const link = await openLink({ delay: 10 }, 'proxy')
    await link.close()

    expect(link.kind).to.equal('proxy')
    expect(link.hiddenRoundTrips).to.equal(1)
    expect(link.roundTrip).to.be.within(19, 200)
  })

  it('is loopback where no delay is asked for', async () => {
    const link = await openLink({ delay: 0 })
    await link.close()

    expect(link.kind).to.equal('loopback')
    expect(link.roundTrip).to.be.below(20)
  })

  it('ends the processes that it ran', async () => {
    const link = await openLink({ delay: 0 })
    const { pid } = await link.start('dialer', { script: scriptPath(import.meta.url, '../../../lab/link/probe'), name: 'A probe' })
    expect(commandLine(pid)).to.not.equal('')
    await link.close()

    expect(commandLine(pid)).to.equal('')
  })

  it('names namespaces after their owner', () => {
    expect(ownerOf(endNames(4194304).dialer)).to.equal(4194304)
    expect(endNames(4194304).dialer).to.have.length.below(16)
    expect(ownerOf('somebody-else')).to.be.undefined()
  })

  describe('between network namespaces (needs root and socat)', () => {
    skipUnless(canRelay)

    it('delays packets both ways and leaves nothing behind', async () => {
      const link = await openLink({ delay: 20 }, 'relay')
      const keeper = keeperOf(process.pid)

      expect(link.roundTrip).to.be.within(39, 400)
      expect(leftOvers(keeper)).to.not.be.empty()

      await link.close()
      expect(leftOvers(keeper)).to.be.empty()
    })

    it('sends with the congestion control that it is told to', async () => {
      const link = await openLink({ delay: 1, congestion: 'reno' }, 'relay')

      try {
        const [command, ...args] = link.commandAt('dialer', ['ip', 'route', 'get', link.listenHost])

        expect(execFileSync(command, args, { encoding: 'utf8' })).to.include('congctl reno')
      } finally {
        await link.close()
      }

      await expect(openLink({ delay: 1, congestion: 'no-such-control' }, 'relay')).to.eventually.be.rejectedWith('No link')
    })

    it('loses packets from the moment that it is told to, and counts them', async () => {
      const link = await openLink({ delay: 1 }, 'relay')

      try {
        expect((await link.traffic?.())?.dialer.lost).to.equal(0)
        await link.lose?.({ percent: 100, seed: 1 })
        const probe = await link.start<ProbeTasks>('dialer', { script: scriptPath(import.meta.url, '../../../lab/link/probe'), name: 'A probe' })
        const dialing = probe.ask('roundTripTo', { host: link.listenHost, port: 1 }, 1, 'connect').catch((err: Error) => err)

        // its SYN
        while ((await link.traffic?.())?.dialer.lost === 0) {
          await wait(20)
        }

        await probe.end()
        expect(await dialing).to.be.an('error')
      } finally {
        await link.close()
      }
    })

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      it(`leaves nothing behind after ${signal}`, async () => {
        const holder = fork(scriptPath(import.meta.url, '../../benchmarks/fixtures/hold-link'), ['relay'])
        await pEvent(holder, 'message')
        const keeper = keeperOf(holder.pid ?? NaN)
        expect(leftOvers(keeper)).to.not.be.empty()

        holder.kill(signal)
        await pEvent(holder, 'exit')

        // a zombie has no command line
        while (commandLine(keeper) !== '') {
          await wait(20)
        }

        expect(leftOvers(keeper)).to.be.empty()
      })
    }

    it('removes what a keeper that was killed has left', async () => {
      const holder = fork(scriptPath(import.meta.url, '../../benchmarks/fixtures/hold-link'), ['relay'])
      await pEvent(holder, 'message')
      const keeper = keeperOf(holder.pid ?? NaN)
      expect(leftOvers(keeper)).to.not.be.empty()

      process.kill(keeper, 'SIGKILL')
      holder.kill('SIGKILL')
      await pEvent(holder, 'exit')

      const link = await openLink({ delay: 1 }, 'relay')
      await link.close()
      expect(leftOvers(keeper)).to.be.empty()
    })

    it('joins namespaces by veth for netem, which is told both ways', async function () {
      if (spawnSync('tc', ['-V']).error != null) {
        return this.skip()
      }

      const directory = await mkdtemp(path.join(tmpdir(), 'fake-tc-'))
      const log = path.join(directory, 'log')
      const environment = process.env.PATH

      try {
        // netem is not in every kernel: all but the queue itself is as it would be
        await writeFile(path.join(directory, 'tc'), `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\nPATH='${environment}' exec tc "$1" "$2" "$3" "$4" "$5" "$6" "$7" pfifo "$9" "\${10}"\n`, { mode: 0o755 })
        process.env.PATH = `${directory}:${environment}`

        const link = await openLink({ delay: 20 }, 'netem')
        const keeper = keeperOf(process.pid)
        await link.close()

        expect(link.hiddenRoundTrips).to.equal(0)
        // it was measured from one to the other
        expect(link.roundTrip).to.be.above(0)
        expect(await readFile(log, 'utf8')).to.equal(Object.values(endNames(keeper))
          .map(name => `-n ${name} qdisc add dev ${name} root netem limit 100000 delay 20ms\n`)
          .join(''))
        expect(leftOvers(keeper)).to.be.empty()
      } finally {
        process.env.PATH = environment
        await rm(directory, { recursive: true })
      }
    })

    it('names the reason where the kernel lacks netem', async function () {
      const error = await openLink({ delay: 1 }, 'netem').then(async link => link.close(), (err: Error) => err)

      if (error == null) {
        return this.skip()
      }

      expect(error.message).to.include('netem: tc')

      // other processes may have links of their own
      const isLeftOver = (owner?: number): boolean => owner != null && (commandLine(owner) === '' || owner === keeperOf(process.pid))
      expect(namespacesAndDevices().filter(name => isLeftOver(ownerOf(name)))).to.be.empty()
    })
  })
})
