import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { FILLED, fill, prose } from '../../benchmarks/readme/fill.ts'
import { FIGURES, readReports } from '../../benchmarks/report/results.ts'
import { packageRoot } from '../lab/script-path.ts'
import { withoutFences } from './fixtures/markdown.ts'

const root = packageRoot()
const read = (page: string): string => readFileSync(path.join(root, page), 'utf8')

/** With a unit, or with a fraction: what a measurement gives */
const QUANTITY = /(?<![\w.,/-])(?:\d[\d,.]*[ -]?(?:ms|s|µs|us|min|[KMG]i?B|B|bytes|Mbit\/s|%)(?!\w)|\d+\.\d+(?![\w.]))/g

/** Limits and defaults of this package, of libp2p and of systems, and versions. No measurement belongs here */
const LIMITS = [
  '1 s', '1.5 s', '5 s', '6 s', '10 s', '30 s', '75 s',
  '10 ms', '100 ms', '250 ms', '500 ms',
  '4 KiB', '16 KiB', '64 KiB', '128 KiB', '256 KiB', '1 MiB', '4 MiB', '16 MiB', '32 MiB', '64 MiB', '256 MiB', '32,768 bytes', '1 Mbit/s',
  '1.3', '2.0', '2.9', '3.3', '3.5', '24.21', '26.1', '26.4'
]

describe('the figures of the documents', () => {
  for (const page of FILLED) {
    it(`${page} quotes those of docs/figures: npm run benchmark:readme writes them`, async () => {
      const text = read(page)

      expect(text).to.match(/<!-- figures:\w+ -->\n\n\|/)
      expect(fill(text, await readReports(FIGURES))).to.equal(text)
    })
  }

  it('stand in blocks that a command writes: beside these are only limits', () => {
    const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...readdirSync(path.join(root, 'docs')).filter(page => page.endsWith('.md')).map(page => `docs/${page}`)]
    const quoted = new Set(pages.flatMap(page => prose(withoutFences(read(page))).match(QUANTITY) ?? []))

    expect([...quoted].sort()).to.deep.equal([...LIMITS].sort())
  })

  it('the first lines of README count round trips as the table does', () => {
    expect(read('README.md')).to.include('takes five round trips').and.include('it takes three').and.match(/\|round trips\|5\.[0-4]\|[\d.]+\|3\.[0-4]\|/)
  })
})
