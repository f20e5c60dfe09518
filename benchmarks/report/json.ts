import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Writes a report where a program can read it. What is not a number is null.
 */
export async function writeJson (file: string, report: object): Promise<void> {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true })
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`)
}
