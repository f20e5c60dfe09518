import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { provenance } from '../../test/lab/report/environment.ts'
import { packageRoot } from '../../test/lab/script-path.ts'
import { chartSpec } from './chart.ts'
import type { Chart } from './chart.ts'
import type { Report } from '../series.ts'

/** What README and docs show: in the source tree, also when run from `dist` */
export const FIGURES = path.join(packageRoot(), 'docs', 'figures')

/** Ignored by git */
export const RESULTS = path.join(packageRoot(), 'benchmarks', 'results')

/** A report as people read it */
export interface Results<R extends Report = Report> {
  report: R
  title: string

  /** Of what the figures are */
  about: string
  sections: Array<{ title: string, text?: string, table?: string }>

  /** By file name without its extension */
  charts: Record<string, Chart>
}

/** Those of a directory */
export async function readReports (directory: string): Promise<Report[]> {
  const files = (await readdir(directory)).filter(file => file.endsWith('.json')).sort()
  const reports: Report[] = await Promise.all(files.map(async file => JSON.parse(await readFile(path.join(directory, file), 'utf8'))))

  return reports.filter(({ series }) => series != null)
}

/** In Markdown */
function pageOf ({ report, title, about, sections }: Results): string {
  return [
    `# ${title}`,
    `${provenance(report)}${report.seed == null ? '' : ` Seed ${report.seed}.`}`,
    about,
    ...report.notes.length === 0 ? [] : [report.notes.map(note => `- ${note}`).join('\n')],
    ...sections.flatMap(({ title, text, table }) => [`## ${title}`, text, table].filter(part => part != null)),
    '## What was measured',
    report.rivals.map(({ name, title, versions }) => `- ${name} (${title}): ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')}`).join('\n')
  ].join('\n\n')
}

/** Prints the page, and writes all into a directory if there is one. */
export async function showResults (results: Results, directory?: string): Promise<void> {
  const files = directory == null ? [] : await writeResults(results, directory)

  // eslint-disable-next-line no-console
  console.log(`\n${[pageOf(results), ...files.length === 0 ? [] : [`Written: ${files.join(', ')}`]].join('\n\n')}`)
}

/**
 * Writes `<benchmark>.json` and a `.svg` for each chart. Beside what the docs show, the page goes into
 * `<benchmark>.md`, too.
 *
 * @returns the files, as seen from where we are
 */
export async function writeResults (results: Results, directory: string): Promise<string[]> {
  const { report, charts } = results
  const write = async (file: string, content: string): Promise<string> => {
    const target = path.join(directory, file)
    await writeFile(target, content)

    return path.relative(process.cwd(), target)
  }

  await mkdir(directory, { recursive: true })

  return [
    // first: what was measured is not lost where a chart fails
    await write(`${report.benchmark}.json`, jsonText(report)),
    ...directory === FIGURES ? [] : [await write(`${report.benchmark}.md`, `${pageOf(results)}\n`)],
    ...await Promise.all(Object.entries(charts).map(async ([name, chart]) => {
      // vega is slow to load, and seldom needed
      const { renderSvg } = await import('./svg.ts')

      return write(`${name}.svg`, await renderSvg(chartSpec(chart)))
    }))
  ]
}

/** A record a line. Four digits are more than any sample is worth. */
function jsonText (json: object): string {
  const rounded = (_: string, value: unknown): unknown => typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

  return `${JSON.stringify(json, rounded).replaceAll('},{', '},\n{')}\n`
}
