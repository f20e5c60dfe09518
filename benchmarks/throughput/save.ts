import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packageRoot } from '../script-path.ts'
import type { SuiteResult } from '../series.ts'

/**
 * Writes every sample to `benchmarks/results/<name>.json`, or elsewhere.
 *
 * @returns where
 */
export async function saveResult (result: SuiteResult, file?: string): Promise<string> {
  const target = path.resolve(file ?? path.join(packageRoot(), 'benchmarks', 'results', `${result.name}.json`))

  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, `${JSON.stringify(result, null, 2)}\n`)

  return target
}
