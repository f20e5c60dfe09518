import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { packageRoot } from '../../benchmarks/script-path.ts'
import { describeDialMode } from '../../src/dial/mode.ts'
import type { DialMode } from '../../src/dial/mode.ts'

const MODES: DialMode[] = [
  { name: 'option' },
  { name: 'responder' },
  { name: 'unencrypted' },
  { name: 'redial' },
  { name: 'refused', ago: 12 * 60_000 }
]

describe('docs/operations.md', () => {
  const page = readFileSync(path.join(packageRoot(), 'docs/operations.md'), 'utf8')

  for (const mode of MODES) {
    it(`explains the log line of a dial in full: ${mode.name}`, () => {
      expect(page).to.include(describeDialMode(mode))
    })
  }
})
