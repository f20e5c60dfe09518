import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { NAMES } from '../contenders/names.ts'
import { textTable } from '../report/table.ts'
import { progress } from '../run/progress.ts'
import { withWorkers } from '../workers/start-worker.ts'
import { calibrate } from './calibrate.ts'
import { fieldsOf } from './fields.ts'
import { startPair } from './pair.ts'
import { profileRow } from './profile-row.ts'
import type { EndProfile } from './profile-row.ts'
import type { ThroughputOptions } from './run.ts'

/**
 * What is less than this of all ends is summed up as the rest
 */
const LEAST = 0.005
const FUNCTIONS = 5

/**
 * Profiles both ends of every rival in every row, and says where the time went.
 * Files of the same names are replaced.
 */
export async function throughputProfiles ({ rows, contenders, rounds, target, slices, warmUp, nodeOptions }: Pick<ThroughputOptions, 'rows' | 'contenders' | 'rounds' | 'target' | 'slices' | 'warmUp' | 'nodeOptions'>, directory: string): Promise<string> {
  const fields = fieldsOf(rows, contenders)
  const shown = progress(fields.reduce((sum, { rivals }) => sum + 1 + rivals.length, 0))
  const where = path.resolve(directory)
  const texts: string[] = []

  await mkdir(where, { recursive: true })

  try {
    await withWorkers(async () => {
      for (const { row, level, rivals } of fields) {
        const profiles: EndProfile[] = []

        shown.step(`${row.name}, ${level} level: calibrating`)
        // in one go as many as where the time is measured
        const pair = await startPair(rivals[0], row)
        const operations = await calibrate(pair, row, target / slices, warmUp)
        await pair.end()

        for (const rival of rivals) {
          shown.step(`${row.name}, ${level} level: profiling ${rival.name}`)
          profiles.push(...await profileRow(row, rival, operations, rounds * target, where, nodeOptions))
        }

        texts.push(`== ${row.title}, ${level} level ==\n${profilesText(profiles)}`)
      }
    })
  } finally {
    shown.stop()
  }

  return [
    ...texts,
    [
      'Per cent of the time of each process, while it is warm and at work, by what runs; what that calls is left out. Idle is waiting for the other end.',
      'There are no times: a process that is profiled is slower.',
      `Written: ${path.relative(process.cwd(), where)}/*.cpuprofile, from the start of each process to its end`
    ].join('\n')
  ].join('\n\n')
}

export function profilesText (profiles: EndProfile[]): string {
  const shares = new Map<string, number>()
  profiles.forEach(({ places }) => { places.forEach((share, place) => shares.set(place, Math.max(share, shares.get(place) ?? 0))) })
  const places = [...shares].filter(([, share]) => share >= LEAST).toSorted(([, a], [, b]) => b - a).map(([place]) => place)
  const titleOf = ({ rival, end }: EndProfile): string => `${NAMES[rival]}, ${end}`
  const rest = (of: Map<string, number>): number => Math.max(0, 1 - places.reduce((sum, place) => sum + (of.get(place) ?? 0), 0))

  return [
    textTable({
      columns: [{ title: '%', align: 'left' }, ...profiles.map(profile => ({ title: titleOf(profile) }))],
      rows: [
        ...places.map(place => [place, ...profiles.map(profile => percent(profile.places.get(place) ?? 0))]),
        ['the rest', ...profiles.map(profile => percent(rest(profile.places)))]
      ]
    }),
    ...profiles.map(profile => `${titleOf(profile)}: ${[...profile.functions].slice(0, FUNCTIONS).map(([name, share]) => `${percent(share)} ${name}`).join(', ')}`)
  ].join('\n')
}

function percent (share: number): string {
  return (share * 100).toFixed(1)
}
