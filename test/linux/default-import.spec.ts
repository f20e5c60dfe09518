import { readFile, readdir } from 'node:fs/promises'
import { expect } from 'aegir/chai'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { itIf } from '../fixtures/skip.ts'

const SRC = new URL('../../src/', import.meta.url)

describe('without the option linux', () => {
  const defer = cleanUpAfterEach()

  itIf(process.platform === 'linux')('neither koffi nor node:ffi is loaded', async () => {
    expect(await runChild(defer, 'default-import.ts').says()).to.deep.equal([])
  })

  it('nothing of src/linux is imported', async () => {
    const files = (await readdir(SRC, { recursive: true })).filter(name => name.endsWith('.ts') && !name.startsWith('linux/'))

    for (const file of files) {
      const text = await readFile(new URL(file, SRC), 'utf8')
      expect(text.match(/from '[^']*\/linux\/[^']*'/)).to.equal(null, file)
    }

    expect(files).to.include('index.ts')
  })
})
