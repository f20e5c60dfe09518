import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packageRoot } from '../../test/lab/script-path.ts'
import type { TopLevelSpec } from 'vega-lite'

/** What README and docs show: in the source tree, also when run from `dist`. */
export const FIGURES = path.join(packageRoot(), 'docs', 'figures')

/** Ignored by git */
export const RESULTS = path.join(packageRoot(), 'benchmarks', 'results')

export interface Results {
  /** Of the files, without their extension. */
  name: string
  json: object

  /** In Markdown: what the terminal shows too. */
  page: string

  /** By file name without its extension. */
  charts: Record<string, TopLevelSpec>
}

/**
 * Writes `<name>.json`, where NaN is null, and a `.svg` for each chart. Beside what the docs show, the page
 * goes into `<name>.md`, too.
 *
 * @returns the files, in that order, as seen from where we are
 */
export async function writeResults ({ name, json, page, charts }: Results, directory: string): Promise<string[]> {
  const write = async (file: string, content: string): Promise<string> => {
    const target = path.join(directory, file)
    await writeFile(target, content)

    return path.relative(process.cwd(), target)
  }

  await mkdir(directory, { recursive: true })

  return [
    // first: what was measured is not lost where a chart fails
    await write(`${name}.json`, jsonText(json)),
    ...directory === FIGURES ? [] : [await write(`${name}.md`, `${page.trimEnd()}\n`)],
    ...await Promise.all(Object.entries(charts).map(async ([name, chart]) => {
      // vega is slow to load, and seldom needed
      const { renderSvg } = await import('./svg.ts')

      return write(`${name}.svg`, await renderSvg(chart))
    }))
  ]
}

/** Prints the page, and writes all into a directory if there is one. */
export async function showResults (results: Results, directory?: string): Promise<void> {
  const files = directory == null ? [] : await writeResults(results, directory)

  // eslint-disable-next-line no-console
  console.log(`\n${[results.page, ...files.length === 0 ? [] : [`Written: ${files.join(', ')}`]].join('\n\n')}`)
}

/** A record a line. Four digits are more than any sample is worth. */
function jsonText (json: object): string {
  const rounded = (_: string, value: unknown): unknown => typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

  return `${JSON.stringify(json, rounded).replaceAll('},{', '},\n{')}\n`
}
