import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { packageRoot } from '../lab/script-path.ts'

const root = packageRoot()
const page = readFileSync(path.join(root, 'docs/operations.md'), 'utf8')

/** The text of the page between a heading and the next one */
function section (heading: string): string {
  const [, text] = page.split(`\n## ${heading}\n`)

  return text.split('\n## ')[0]
}

const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => readFileSync(path.join(root, 'src', file), 'utf8'))

/** What a pattern finds in the sources, once each */
function inSources (pattern: RegExp): string[] {
  return [...new Set(sources.flatMap(source => [...source.matchAll(pattern)].map(([, name]) => name)))].sort()
}

/** What a pattern finds in a section, once each */
function inSection (heading: string, pattern: RegExp): string[] {
  return [...new Set([...section(heading).matchAll(pattern)].map(([, name]) => name))].sort()
}

describe('docs/operations.md', () => {
  it('has a row for each metric, and for nothing else', () => {
    const names = inSources(/'(libp2p_\w+)'/g)

    expect(names).to.not.be.empty()
    expect(inSection('Metrics', /^- `(libp2p_\w+)`/gm)).to.deep.equal(names)
  })

  it('names each log, and no other', () => {
    const names = inSources(/forComponent\('([^']+)'\)/g)

    expect(names).to.not.be.empty()
    expect(inSection('Logs', /`(libp2p:[\w:-]+)`/g)).to.deep.equal(names)
  })
})
