import { existsSync } from 'node:fs'
import { expect } from 'aegir/chai'
import { missing } from '../../../../benchmarks/nagle/run.ts'
import { whyNoTracing } from '../../../../benchmarks/throughput/write-calls.ts'
import { isThorough } from '../../../fixtures/thorough.ts'
import { binaryOf } from '../../../lab/peers/build.ts'
import { interrupt } from '../../benchmarks/fixtures/interrupt.ts'
import type { Interruption, Remains } from '../../benchmarks/fixtures/interrupt.ts'

interface Case extends Interruption {
  title: string
  needs?: boolean

  /** `npm test` leaves it out: another like it is there */
  onlyThorough?: boolean
}

const canRelay = process.getuid?.() === 0 && existsSync('/dev/net/tun') && existsSync('/usr/bin/socat')
const areBuilt = existsSync(binaryOf('go')) && existsSync(binaryOf('rust'))
const STATUS = { SIGINT: 130, SIGTERM: 143, SIGKILL: null }

function connect (link: 'proxy' | 'relay', rivals: string): string[] {
  return ['connect', '--rivals', rivals, '--link', link, '--delay', '20', '--runs', rivals === 'floor' ? '60' : '8']
}

const NAGLE = ['nagle', '--round-trips', '60', '--runs', '50']
const THROUGHPUT = ['throughput', '--rows', 'small', '--levels', 'connection', '--rivals', 'ours']

const cases: Case[] = [
  { title: 'connect, while it starts over a proxy', args: connect('proxy', 'floor'), signal: 'SIGTERM', at: { says: /starting \w+ over proxy/ } },
  { title: 'connect, while it dials over a proxy', args: connect('proxy', 'floor'), signal: 'SIGINT', at: { says: /dialed \w+ over proxy/ }, onlyThorough: true },
  { title: 'connect, while it starts over a relay', args: connect('relay', 'floor'), signal: 'SIGINT', at: { says: /starting \w+ over relay/ }, needs: canRelay, onlyThorough: true },
  { title: 'connect, while it dials over a relay', args: connect('relay', 'official'), signal: 'SIGTERM', at: { says: /dialed \w+ over relay/ }, needs: canRelay },
  { title: 'connect, while programs in other languages dial', args: connect('relay', 'go,rust'), signal: 'SIGINT', at: { says: /dialed \w+ over relay/ }, needs: canRelay && areBuilt, onlyThorough: true },
  { title: 'connect, while programs in other languages dial', args: connect('proxy', 'go,rust'), signal: 'SIGKILL', at: { says: /dialed \w+ over proxy/ }, needs: areBuilt },
  { title: 'nagle', args: NAGLE, signal: 'SIGINT', at: { says: /run \d+ of 50/ }, needs: canRelay && missing().length === 0, onlyThorough: true },
  { title: 'nagle', args: NAGLE, signal: 'SIGKILL', at: { says: /run \d+ of 50/ }, needs: canRelay && missing().length === 0 },
  { title: 'throughput, while it measures', args: [...THROUGHPUT, '--target', '50', '--rounds', '500', '--no-fresh-processes'], signal: 'SIGINT', at: { says: /round (?!1,)\d+,/ }, onlyThorough: true },
  { title: 'throughput, while it traces', args: [...THROUGHPUT, '--target', '50', '--rounds', '1'], signal: 'SIGINT', at: { runs: /^strace .*worker/ }, needs: whyNoTracing() == null },
  { title: 'load, while lines are measured side by side', args: ['load', '--jobs', '3'], signal: 'SIGINT', at: { runs: /load\/worker/ }, needs: canRelay },
  { title: 'scale', args: ['scale', '--counts', '10', '--hold', '60000'], signal: 'SIGTERM', at: { runs: /scale\/worker/ } },
  { title: 'all', args: ['all', '--quick'], signal: 'SIGINT', at: { says: /starting \w+ over loopback/ }, onlyThorough: true }
]

const chosen = cases.filter(({ onlyThorough }) => isThorough || onlyThorough !== true)

describe('benchmarks: interrupted (some need root, socat, tcpdump or strace)', function () {
  this.timeout(180_000)

  const remains = new Map<Case, Promise<Remains>>()

  before(function () {
    if (process.platform !== 'linux') {
      this.skip()
    }

    // most of each is waiting: side by side they take as long as the longest
    for (const of of chosen.filter(({ needs }) => needs !== false)) {
      const promise = interrupt(of)
      promise.catch(() => {})
      remains.set(of, promise)
    }
  })

  for (const of of chosen) {
    it(`${of.title}: no process, namespace, device or file is left after ${of.signal}`, async function () {
      const left = await remains.get(of)

      if (left == null) {
        return this.skip()
      }

      expect(left.ran).to.be.at.least(1)
      expect(left).to.deep.include({ status: STATUS[of.signal], processes: [], files: [], namespaces: [] })
    })
  }
})
