import { contenders } from '../contenders/registry.ts'
import { SeriesList } from '../series.ts'
import { describeRun } from '../throughput/machine.ts'
import { seededRandom, shuffled } from '../throughput/seeded-order.ts'
import { interruptible } from '../workers/interrupt.ts'
import { whyTooMany } from './descriptors.ts'
import { measureConnections } from './measure.ts'
import type { Level } from '../contenders/contender.ts'
import type { SuiteResult } from '../series.ts'

export interface ScaleOptions {
  /** Numbers of connections */
  counts: number[]

  /** The most connections at the stream level: each has a handshake at both ends */
  maxStreamLevel: number
  levels?: Level[]
  rivals?: string[]
  rounds: number

  /** How long connections lie idle, in ms */
  hold: number
  seed: number
  onProgress(message: string): void
}

export async function runScale (options: ScaleOptions): Promise<SuiteResult> {
  return interruptible(async () => measureScale(options))
}

async function measureScale (options: ScaleOptions): Promise<SuiteResult> {
  const { levels, rivals, rounds, hold, seed, onProgress } = options
  const list = new SeriesList()
  const random = seededRandom(seed)
  const notes: string[] = []
  const field = contenders.filter(({ level, name }) => levels?.includes(level) !== false && rivals?.includes(name) !== false)
  const counts = options.counts.filter(count => {
    const reason = whyTooMany(count)

    if (reason != null) {
      notes.push(`${count} connections were skipped: ${reason}`)
      onProgress(notes[notes.length - 1])
    }

    return reason == null
  })

  for (const count of counts) {
    for (let round = 1; round <= rounds; round++) {
      for (const contender of shuffled(field, random)) {
        if (contender.level === 'stream' && count > options.maxStreamLevel) {
          continue
        }

        onProgress(`${count} connections: round ${round} of ${rounds}, ${contender.name}, ${contender.level} level`)

        for (const { metric, unit, value } of await measureConnections(contender, count, hold)) {
          list.add({ row: `${count}`, level: contender.level, rival: contender.name, metric }, unit, value)
        }
      }
    }
  }

  return {
    name: 'scale',
    meta: { ...describeRun(field), seed, rounds, hold, counts, notes },
    samples: list.series
  }
}
