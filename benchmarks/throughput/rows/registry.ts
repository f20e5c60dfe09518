import { chunking } from './chunking.ts'
import { loaded } from './loaded.ts'
import { receiveOnly, sendOnly } from './one-way.ts'
import { newDial, poolReuse } from './pool.ts'
import { roundTripRow } from './round-trip.ts'
import { KiB, MiB } from './row.ts'
import { sideBySide } from './side-by-side.ts'
import type { Row } from './row.ts'

/** In the order of the published report, and behind them what it lacks */
export const rows: Row[] = [
  roundTripRow({
    name: 'small',
    title: 'small message: 100 B round trip',
    bytes: 100,
    published: { operationsPerSecond: 49_749 }
  }),
  roundTripRow({
    name: 'large',
    title: 'large message: 1 MiB round trip',
    bytes: MiB,
    published: { operationsPerSecond: 175 }
  }),
  chunking,
  poolReuse,
  newDial,
  sendOnly,
  receiveOnly,
  loaded,
  sideBySide,
  roundTripRow({
    name: 'whole',
    title: 'sent whole: 200 KiB round trip',
    bytes: 200 * KiB,
    extra: true,
    published: {}
  })
]

export function rowNamed (name: string): Row {
  const row = rows.find(row => row.name === name)

  if (row == null) {
    throw new Error(`No row is named "${name}": there are ${rows.map(row => row.name).join(', ')}`)
  }

  return row
}
