import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'

const PACKAGE = new URL('../../package.json', import.meta.url)

/** Types are not in a bundle */
const IMPORT = /^(?:import|export) (?!type\b)(?:[^'"()=]+ from )?'([^']+)'/gm

describe('the package', () => {
  const defer = cleanUpAfterEach()

  it('has an export for loaders that know none of its conditions, such as `require` of Bun', async () => {
    const { exports } = JSON.parse(await readFile(PACKAGE, 'utf8'))

    // conditions are tried in order
    expect(Object.entries(exports['.']).at(-1)).to.deep.equal(['default', './dist/src/index.js'])
  })

  it('makes no transport beside a @libp2p/utils whose base class lacks what it uses, and names the versions that fit', async () => {
    const { dependencies } = JSON.parse(await readFile(PACKAGE, 'utf8'))
    const { name, message } = await runChild(defer, 'other-utils.ts', ['onRemoteReset']).says()

    expect(name).to.equal('IncompatibleUtilsError')
    expect(message).to.include('has no onRemoteReset').and.include(`Versions ${dependencies['@libp2p/utils']} fit`)
  })

  it('imports nothing of Node where bundlers honour its browser field and condition', async () => {
    const { exports, browser } = JSON.parse(await readFile(PACKAGE, 'utf8'))
    const sourceOf = (file: string): string => file.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, '.ts')
    const instead = new Map(Object.entries<string>(browser).map(([file, other]) => [sourceOf(file), sourceOf(other)]))
    const files = new Set(Object.values<Record<string, string>>(exports).map(entry => sourceOf(entry.browser ?? entry.import)))
    const ofNode: string[] = []

    // what is added meanwhile is visited too
    for (const file of files) {
      const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')

      for (const [, name] of source.matchAll(IMPORT)) {
        const imported = path.posix.join(path.posix.dirname(file), name)

        if (name.startsWith('node:')) {
          ofNode.push(`${file} imports ${name}`)
        } else if (name.startsWith('.')) {
          files.add(instead.get(imported) ?? imported)
        }
      }
    }

    expect([...files]).to.include('src/tcp.browser.ts')
    expect(ofNode).to.be.empty()
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
