import { spawnSync } from 'node:child_process'
import { expect } from 'aegir/chai'
import { skipUnless } from '../../../fixtures/skip.ts'
import { scriptPath } from '../../../lab/script-path.ts'

const fixture = scriptPath(import.meta.url, '../../benchmarks/fixtures/show-progress')

// that of util-linux makes a terminal for a command
const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true

// the options of Node that tests run with make it warn
const env = { ...process.env, NODE_NO_WARNINGS: '1' }

/**
 * What a terminal is told to stop and start breaking lines
 */
const WRAP = /\x1b\[\?7[lh]/g // eslint-disable-line no-control-regex

describe('benchmarks: progress', () => {
  it('is lines where there is no terminal', () => {
    const { stderr } = spawnSync(process.execPath, [fixture, '10'], { encoding: 'utf8', env })

    // what comes within two seconds is not worth a line
    expect(stderr).to.equal(' 0/10 getting ready\n')
  })

  describe('on a terminal (needs script of util-linux)', () => {
    skipUnless(hasTerminals)

    function onTerminal (total: number): string {
      return spawnSync('script', ['-qec', `'${process.execPath}' '${fixture}' ${total}`, '/dev/null'], { encoding: 'utf8', env }).stdout
    }

    it('is a bar that goes when all is done', () => {
      const output = onTerminal(2)

      expect(output).to.match(/\[-+\] 0% \| 0s \| /)
      expect(output).to.match(/\[=+\] 100% \| 0s \| /)
      // clears the line
      expect(output.trimEnd()).to.satisfy((text: string) => text.endsWith('\x1b[2K'))
    })

    it('leaves the terminal as it was when the process ends in the middle of it', () => {
      for (const total of [2, 10]) {
        expect(onTerminal(total).match(WRAP)).to.deep.equal(['\x1b[?7l', '\x1b[?7h'])
      }
    })
  })
})
