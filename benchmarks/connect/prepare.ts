/* eslint-disable no-console */
import type { Skipped } from './report.ts'
import type { Rival } from '../rivals/rival.ts'

/**
 * Installs what is not there yet. A rival for which that fails is left out.
 */
export async function prepare (rivals: Rival[]): Promise<{ prepared: Rival[], skipped: Skipped[] }> {
  const prepared: Rival[] = []
  const skipped: Skipped[] = []

  for (const rival of rivals) {
    try {
      await rival.prepare?.(message => { console.error(message) })
      prepared.push(rival)
    } catch (err: any) {
      skipped.push({ rival: rival.name, reason: err.shortMessage ?? err.message })
    }
  }

  return { prepared, skipped }
}
