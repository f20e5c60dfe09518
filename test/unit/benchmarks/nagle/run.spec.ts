import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { findings } from '../../../../benchmarks/nagle/findings.ts'
import { missing } from '../../../../benchmarks/nagle/run.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../../../fixtures/cleanup.ts'
import { skipUnless } from '../../../fixtures/skip.ts'
import { scriptPath } from '../../../lab/script-path.ts'
import { commandLine, processIds } from '../fixtures/processes.ts'
import type { NagleReport } from '../../../../benchmarks/nagle/report.ts'
import type { ChildProcess } from 'node:child_process'

const CLI = scriptPath(import.meta.url, '../../../../benchmarks/cli')
const NOBODY = 65_534

/** In ms */
const ROUND_TRIP = 60

const canMeasure = missing().length === 0 && existsSync('/dev/net/tun') && spawnSync('socat', ['-V']).error == null

function start (directory: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [CLI, 'nagle', '--out', directory, '--round-trips', `${ROUND_TRIP}`, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
}

function processesWith (text: string): string[] {
  return processIds().map(commandLine).filter(command => command.includes(text))
}

describe('benchmarks: Nagle run', () => {
  const defer = cleanUpAfterEach()
  let directory: string

  beforeEach(async () => {
    directory = await temporaryDirectory(defer)
  })

  it('says what it needs and ends well without root', function () {
    if (process.getuid?.() !== 0) {
      expect(missing().join()).to.include('root')
      return
    }

    // the files need not be readable to another user
    const { status, stdout } = spawnSync(process.execPath, ['--import', `data:text/javascript,process.getuid = () => ${NOBODY}`, CLI, 'nagle', '--out', directory], { encoding: 'utf8' })

    expect(stdout).to.include('- root, for network namespaces and captures')
    expect(stdout).to.include('Nothing was measured.')
    expect(status).to.equal(0)
    expect(readdirSync(directory)).to.be.empty()
  })

  describe('between network namespaces (needs root, tcpdump and socat)', () => {
    skipUnless(canMeasure)

    it('sees nine bytes held back by Nagle\'s algorithm, none without, and one segment for a tick', async function () {
      this.timeout(60_000)
      const child = start(directory, '--runs', '1', '--spacing', '2')
      await pEvent(child, 'exit')

      // the first message, its acknowledgement, and the rest. A program that is late sees it later
      const heldBackUntil = 1.5 * ROUND_TRIP
      const { links: [link], cases }: NagleReport = JSON.parse(readFileSync(path.join(directory, 'nagle.json'), 'utf8'))
      const found = Object.fromEntries(findings(link, cases).map(finding => [finding.case.id, finding]))

      for (const id of ['net-nagle', 'ours-nagle']) {
        expect(found[id].sizes).to.deep.equal([1, 9])
        expect(found[id].last.median).to.be.above(0.95 * heldBackUntil)
      }

      for (const id of ['net-nodelay', 'official-nagle', 'official-nodelay', 'ours-nodelay']) {
        expect(found[id].sizes.reduce((sum, size) => sum + size)).to.equal(10)
        expect(found[id].sizes).to.have.length.above(2)
      }

      expect(found['ours-tick'].sizes).to.deep.equal([10])
      expect(readdirSync(directory).toSorted()).to.deep.equal(['nagle.json', 'nagle.md', 'nagle.svg'])
      expect(processesWith(directory)).to.be.empty()
    })
  })
})
