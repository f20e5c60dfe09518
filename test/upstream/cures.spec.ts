import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'

/** Also where this file is built */
const ROOT = import.meta.dirname.replace(/(\/dist)?\/test\/upstream$/, '')
const CURES = path.join(ROOT, 'docs/upstream')
const HOOK = path.join(ROOT, 'test/upstream/fixtures/patched.ts')

/** Each folder holds a report, a reproduction that exits with 1 while the fault is there, and a patch */
describe('a fault of libp2p (with THOROUGH=true)', function () {
  this.timeout(30_000)

  skipUnless(isThorough)

  const defer = cleanUpAfterEach()

  async function reproduce (fault: string, patched?: string): Promise<{ exitCode?: number, stderr: string }> {
    return execa('node', ['--no-warnings', ...patched == null ? [] : ['--import', HOOK], path.join(CURES, fault, 'reproduce.mjs')], {
      cwd: ROOT,
      env: { PATCHED: patched },
      preferLocal: true,
      reject: false
    })
  }

  /** A folder with the patched files of node_modules */
  async function patch (fault: string): Promise<string> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'upstream-'))
    const file = path.join(CURES, fault, 'cure.patch')
    const [, patched] = readFileSync(file, 'utf8').match(/^\+\+\+ b\/(\S+)/m) ?? []

    defer(() => { rmSync(folder, { recursive: true }) })
    cpSync(path.join(ROOT, patched), path.join(folder, patched))
    await execa('git', ['apply', file], { cwd: folder })

    return folder
  }

  for (const fault of readdirSync(CURES)) {
    it(`is there, and gone with its patch: ${fault}`, async () => {
      const [plain, cured] = await Promise.all([
        reproduce(fault),
        patch(fault).then(async folder => reproduce(fault, folder))
      ])

      expect(plain.exitCode, `cured upstream? ${plain.stderr}`).to.equal(1)
      expect(cured.exitCode, cured.stderr).to.equal(0)
    })
  }
})
