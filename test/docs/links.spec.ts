import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { packageRoot } from '../lab/script-path.ts'
import { anchors, links } from './fixtures/markdown.ts'

const SKIPPED = ['node_modules', 'dist']
const root = packageRoot()

function pagesIn (directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap(entry => {
    if (entry.name.startsWith('.') || SKIPPED.includes(entry.name)) {
      return []
    }

    const file = path.join(directory, entry.name)

    if (entry.isDirectory()) {
      return pagesIn(file)
    }

    return file.endsWith('.md') ? [file] : []
  })
}

function read (page: string): string {
  return readFileSync(page, 'utf8')
}

/** What is wrong with a link of a page, if something is */
function fault (page: string, link: string): string | undefined {
  const [target, anchor] = link.split('#')
  const file = target === '' ? page : path.resolve(path.dirname(page), decodeURIComponent(target))

  if (!existsSync(file)) {
    return `${link}: there is no such file`
  }

  if (anchor != null && !anchors(read(file)).has(anchor)) {
    return `${link}: there is no such heading`
  }
}

describe('the documents', () => {
  for (const page of pagesIn(root)) {
    it(`${path.relative(root, page)} links to files and headings that exist`, () => {
      expect(links(read(page)).flatMap(link => fault(page, link) ?? [])).to.deep.equal([])
    })
  }

  it('SECURITY.md names tests that exist', () => {
    const named = [...read(path.join(root, 'SECURITY.md')).matchAll(/\btest\/[\w./-]*\w/g)].map(([file]) => file)

    expect(named).to.not.be.empty()
    expect(named.filter(file => !existsSync(path.join(root, file)))).to.deep.equal([])
  })

  it('test/README.md names specs that exist', () => {
    const specs = readdirSync(path.join(root, 'test'), { recursive: true }).map(file => `/${String(file)}`)
    const named = [...read(path.join(root, 'test/README.md')).matchAll(/[\w./-]+\.ts\b/g)].map(([file]) => file)

    expect(named).to.not.be.empty()
    expect(named.filter(name => !specs.some(spec => spec.endsWith(`/${name}`)))).to.deep.equal([])
  })

  it('have 9,000 words at most', () => {
    const pages = [...['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map(page => path.join(root, page)), ...readdirSync(path.join(root, 'docs')).filter(page => page.endsWith('.md')).map(page => path.join(root, 'docs', page))]
    const words = pages.flatMap(page => read(page).split(/\s+/).filter(word => word !== ''))

    expect(words.length).to.be.at.most(9_000)
  })
})
