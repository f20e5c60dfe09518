import { readFile, readdir } from 'node:fs/promises'
import { expect } from 'aegir/chai'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'

const SRC = new URL('../../src/', import.meta.url)

describe('without the option fastOpen', () => {
  const defer = cleanUpAfterEach()

  it('neither koffi nor node:ffi is loaded', async function () {
    if (process.platform !== 'linux') {
      this.skip()
    }

    expect(await runChild(defer, 'default-import.ts').says()).to.deep.equal([])
  })

  it('nothing of src/fast-open is imported', async () => {
    const files = (await readdir(SRC, { recursive: true })).filter(name => name.endsWith('.ts') && !name.startsWith('fast-open/'))

    for (const file of files) {
      const text = await readFile(new URL(file, SRC), 'utf8')
      expect(text.match(/from '[^']*fast-open\/[^']*'/)).to.equal(null, file)
    }

    expect(files).to.include('index.ts')
  })
})
