import { BLOCKS } from './blocks.ts'
import type { Report } from '../series.ts'

/** The pages that have blocks of figures */
export const FILLED = ['README.md', 'docs/benchmarks.md']

const BLOCK = /<!-- figures:(?!end)(\w+) -->.*?<!-- figures:end -->/gs

/**
 * Writes the blocks of a page anew, each from the reports of its benchmarks
 *
 * @throws {Error} if the page names a block that there is not
 */
export function fill (page: string, reports: Report[]): string {
  const byName = Object.fromEntries(reports.map(report => [report.benchmark, report]))

  return page.replaceAll(BLOCK, (_, name: string) => {
    if (!Object.hasOwn(BLOCKS, name)) {
      throw new Error(`There is no block of figures named ${name}: there are ${Object.keys(BLOCKS).join(', ')}`)
    }

    return `<!-- figures:${name} -->\n\n${BLOCKS[name](byName)}\n\n<!-- figures:end -->`
  })
}

/** What people write: a page without its blocks */
export function prose (page: string): string {
  return page.replaceAll(BLOCK, '')
}
