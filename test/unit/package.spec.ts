import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'

const PACKAGE = new URL('../../package.json', import.meta.url)

describe('the package', () => {
  const defer = cleanUpAfterEach()

  it('has an export for loaders that know none of its conditions, such as `require` of Bun', async () => {
    const { exports } = JSON.parse(await readFile(PACKAGE, 'utf8'))

    // conditions are tried in order
    expect(Object.entries(exports['.']).at(-1)).to.deep.equal(['default', './dist/src/index.js'])
  })

  it('holds what can be reached, and no bundle besides', async () => {
    const directory = await temporaryDirectory(defer)

    await mkdir(path.join(directory, 'dist/src'), { recursive: true })
    await cp(PACKAGE, path.join(directory, 'package.json'))

    for (const file of ['dist/src/index.js', 'dist/index.min.js', 'dist/index.min.js.map']) {
      await writeFile(path.join(directory, file), '')
    }

    const { stdout } = await execa('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: directory })
    const [{ files }] = JSON.parse(stdout)

    expect(files.map((file: { path: string }) => file.path)).to.have.members(['package.json', 'dist/src/index.js'])
  })
})
