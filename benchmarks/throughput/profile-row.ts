import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { functionOf, placeOf, selfShares } from '../report/cpu-profile.ts'
import { packageRoot } from '../script-path.ts'
import { timeGo } from './calibrate.ts'
import { startPair } from './pair.ts'
import type { Row } from './rows/row.ts'
import type { Contender } from '../contenders/contender.ts'
import type { CpuProfile, Stretch } from '../report/cpu-profile.ts'
import type { End } from '../workers/own-core.ts'

/**
 * Where the time of one end of a contender went, from 0 to 1
 */
export interface EndProfile {
  rival: string
  end: End
  places: Map<string, number>
  functions: Map<string, number>
}

/** In ms */
const WARM_UP = 1_000

const ENDS: End[] = ['dialler', 'listener']

/**
 * Has both ends write a profile, and sums up what it says of a stretch of work of
 * about so many ms, so many operations in one go: Node's start and the compilation
 * of code lie before it.
 */
export async function profileRow (row: Row, contender: Contender, operations: number, milliseconds: number, directory: string, nodeOptions: string[] = []): Promise<EndProfile[]> {
  const { level, name } = contender
  const nameOf = (end: End): string => `${row.name}-${level}-${name}-${end}.cpuprofile`
  const pair = await startPair(contender, row, {
    execArgv: end => [...nodeOptions, '--cpu-prof', '--cpu-prof-dir', directory, '--cpu-prof-name', nameOf(end)]
  })
  let stretch: Stretch

  try {
    const go = await timeGo(pair, operations, WARM_UP)
    const from = now()
    await pair.dialler.ask('run', operations, Math.ceil(milliseconds / go))
    stretch = { from, until: now() }
  } finally {
    await pair.end()
  }

  return Promise.all(ENDS.map(async end => {
    const profile: CpuProfile = JSON.parse(await readFile(path.join(directory, nameOf(end)), 'utf8'))
    const root = packageRoot()

    return {
      rival: name,
      end,
      places: selfShares(profile, stretch, frame => placeOf(frame, root)),
      functions: selfShares(profile, stretch, frame => functionOf(frame, root))
    }
  }))
}

function now (): number {
  return Number(process.hrtime.bigint() / 1_000n)
}
