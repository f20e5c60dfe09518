import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { provenance, versionsList } from './environment.ts'
import { markdownTable } from './table.ts'
import type { Environment } from './environment.ts'
import type { Table } from './table.ts'

/** What ran, by name: of each language, or of whatever tells them apart */
export type Versions = Record<string, Record<string, string>>

export interface PageInit {
  title: string
  about: string
  environment: Environment
  versions?: Versions

  /** Sections and paragraphs; an empty one is left out */
  parts: string[]
}

/** A page in Markdown, of results that were kept or are new */
export function page ({ title, about, environment, versions = {}, parts }: PageInit): string {
  const measured = Object.entries(versions).map(([title, versions]) => ({ title, versions }))

  return `${paragraphs(`# ${title}`, about, provenance(environment), versionsList(measured), ...parts)}\n`
}

/** Empty ones are left out. */
export function paragraphs (...parts: string[]): string {
  return parts.filter(part => part !== '').join('\n\n')
}

/** Nothing where the table has no rows */
export function section (title: string, about: string, table: Table, ...parts: string[]): string {
  return table.rows.length === 0 ? '' : paragraphs(`## ${title}`, about, markdownTable(table), ...parts)
}

/** With a paragraph before it; nothing where it is empty */
export function bullets (title: string, lines: string[]): string {
  return lines.length === 0 ? '' : paragraphs(title, lines.map(line => `- ${line}`).join('\n'))
}

/** Writes results.json, of which `page` makes RESULTS.md. */
export async function writeReport <R extends object> (directory: string, results: R, page: (results: R) => string): Promise<void> {
  // a list of numbers stays on its line
  const json = JSON.stringify(results, undefined, 1).replaceAll(/\[[\s\d.,]+\]/g, list => list.replaceAll(/\s+/g, ' '))

  await mkdir(directory, { recursive: true })
  await writeFile(path.join(directory, 'results.json'), `${json}\n`)
  await writeFile(path.join(directory, 'RESULTS.md'), page(results))
}
