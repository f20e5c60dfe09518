import { receiveRow, sendRow } from './one-way.ts'
import { idleConnection, idleStream, newDial, poolReuse, streams } from './pool.ts'
import { roundTripRow } from './round-trip.ts'
import { KiB, MiB } from './row.ts'
import type { Row } from './row.ts'

/** In the order of the tables */
export const rows: Row[] = [
  roundTripRow({ name: 'small', title: '100 B round trip', bytes: 100, batch: 500 }),
  poolReuse,
  streams,
  sendRow({ name: 'send-only', title: '1 KiB messages one way, sent', levels: ['connection', 'stream'], bytes: KiB, batch: 5_000 }),
  receiveRow({ name: 'receive-only', title: '1 KiB messages one way, received', levels: ['connection', 'stream'], bytes: KiB, batch: 5_000 }),
  roundTripRow({ name: 'chunking', title: '200 KiB round trip in chunks of 64 KiB', bytes: 200 * KiB, chunk: 64 * KiB, batch: 50 }),
  roundTripRow({ name: 'large', title: '1 MiB round trip', bytes: MiB, batch: 20 }),
  sendRow({ name: 'upload', title: '256 MiB in messages of 64 KiB, sent', levels: ['stream'], bytes: 64 * KiB, batch: 4_096 }),
  receiveRow({ name: 'download', title: '256 MiB in messages of 64 KiB, received', levels: ['stream'], bytes: 64 * KiB, batch: 4_096 }),
  newDial,
  roundTripRow({ name: 'whole', title: '200 KiB round trip, sent whole', bytes: 200 * KiB, batch: 50, extra: true }),
  idleStream,
  idleConnection
]

export function rowNamed (name: string): Row {
  const row = rows.find(row => row.name === name)

  if (row == null) {
    throw new Error(`No row is named "${name}": there are ${rows.map(row => row.name).join(', ')}`)
  }

  return row
}
