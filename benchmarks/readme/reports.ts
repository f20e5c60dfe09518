import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ConnectReport } from '../connect/report.ts'
import type { NagleReport } from '../nagle/report.ts'
import type { ScaleReport } from '../scale/report.ts'
import type { ThroughputReport } from '../throughput/report.ts'

/** What is known; a suite that was never run has no section. */
export interface Reports {
  connect?: ConnectReport
  nagle?: NagleReport
  throughput?: ThroughputReport
  scale?: ScaleReport
}

export async function readReports (directory: string): Promise<Reports> {
  const [connect, nagle, throughput, scale] = await Promise.all(['connect', 'nagle', 'throughput', 'scale'].map(async name => readJson(path.join(directory, `${name}.json`))))

  return { connect, nagle, throughput, scale }
}

/** Undefined where there is none. */
export async function readJson (file: string): Promise<any> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (err: any) {
    if (err.code !== 'ENOENT') {
      throw err
    }
  }
}
