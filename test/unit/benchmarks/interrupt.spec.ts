import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { ownerOf } from '../../../benchmarks/link/namespaces.ts'
import { scriptPath } from '../../../benchmarks/script-path.ts'

const CLI = scriptPath(import.meta.url, '../../../benchmarks/cli')
const canRelay = process.getuid?.() === 0 && existsSync('/dev/net/tun') && existsSync('/usr/bin/socat')

/**
 * A mark in the environment that every process below the benchmark inherits
 */
function processesMarked (mark: string): string[] {
  return readdirSync('/proc').filter(pid => /^\d+$/.test(pid)).filter(pid => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
}

function namespacesAndDevices (): string[] {
  return ['/sys/class/net', '/run/netns'].filter(directory => existsSync(directory)).flatMap(directory => readdirSync(directory))
}

describe('benchmarks: interrupted', () => {
  let directory: string

  before(function () {
    if (process.platform !== 'linux') {
      this.skip()
    }
  })

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'fast-tcp-interrupt-'))
  })

  afterEach(async () => {
    await rm(directory, { recursive: true })
  })

  /**
   * Ends a benchmark with a signal when it says that it is at this point, and
   * looks for what it has left.
   */
  async function expectNothingLeft (link: 'proxy' | 'relay', signal: 'SIGINT' | 'SIGTERM', point: 'starting' | 'dialled'): Promise<void> {
    const mark = `${process.pid}-${link}-${signal}`
    const benchmark = spawn(process.execPath, [CLI, '--rivals', 'floor,official', '--link', link, '--delay', '20', '--runs', '60', '--json', path.join(directory, 'report.json')], {
      env: { ...process.env, FAST_TCP_MARK: mark, TMPDIR: directory },
      stdio: ['ignore', 'ignore', 'pipe']
    })

    try {
      await new Promise<void>(resolve => {
        benchmark.stderr.on('data', chunk => {
          if (new RegExp(`${point} \\w+ over ${link}`).test(String(chunk))) {
            resolve()
          }
        })
      })

      const started = processesMarked(mark)
      expect(started).to.have.length.above(point === 'dialled' ? 4 : 0)

      benchmark.kill(signal)
      const [status] = await once(benchmark, 'exit')

      expect(status).to.equal(signal === 'SIGINT' ? 130 : 143)
      expect(processesMarked(mark)).to.be.empty()
      expect(await readdir(directory)).to.be.empty()
      expect(namespacesAndDevices().filter(name => started.includes(String(ownerOf(name))))).to.be.empty()
    } finally {
      benchmark.kill('SIGKILL')
    }
  }

  for (const point of ['starting', 'dialled'] as const) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      it(`leaves no process or file after ${signal} when ${point} over a proxy`, async function () {
        this.timeout(60_000)
        await expectNothingLeft('proxy', signal, point)
      })

      it(`leaves no process, namespace, device or file after ${signal} when ${point} over a relay (needs root and socat)`, async function () {
        if (!canRelay) {
          this.skip()
        }

        this.timeout(60_000)
        await expectNothingLeft('relay', signal, point)
      })
    }
  }
})
