import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { writeJson } from './json.ts'
import { RESULTS } from './results-directory.ts'
import { renderSvg } from './svg.ts'
import type { TopLevelSpec } from 'vega-lite'

export interface Results {
  /**
   * All that was measured.
   */
  json: object
  markdown: string

  /**
   * By file name without its extension.
   */
  charts: Record<string, TopLevelSpec>
}

/**
 * Writes `<name>.json`, `<name>.md` and a `.svg` for each chart.
 *
 * @returns the files, in that order
 */
export async function writeResults (name: string, { json, markdown, charts }: Results, directory = RESULTS): Promise<string[]> {
  const text = async (file: string, content: string): Promise<string> => {
    const target = path.join(directory, file)
    await writeFile(target, content)

    return target
  }
  const jsonFile = path.join(directory, `${name}.json`)

  await mkdir(directory, { recursive: true })
  await writeJson(jsonFile, json)

  return [
    jsonFile,
    await text(`${name}.md`, `${markdown.trimEnd()}\n`),
    ...await Promise.all(Object.entries(charts).map(async ([name, chart]) => text(`${name}.svg`, await renderSvg(chart))))
  ]
}
