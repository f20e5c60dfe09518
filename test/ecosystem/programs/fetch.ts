import { fetch } from '@libp2p/fetch'
import { identify } from '@libp2p/identify'
import { contentOf, hashOf } from './content.ts'
import type { Facts, Lab } from './lab.ts'

const CONCURRENCY = 10

/** Values of 10 B to 16 KiB, ten at a time, and one that is not there */
export default async function run (lab: Lab): Promise<Facts> {
  const services = { identify: identify(), fetch: fetch() }
  const [dialer, listener] = await Promise.all([0, 1].map(async () => lab.node({ services })))
  const count = lab.amount(2_000, 200)
  const hash = hashOf()
  let fetched = 0

  listener.services.fetch.registerLookupFunction('/value/', async key => {
    const name = new TextDecoder().decode(key)

    return name.endsWith('/none') ? undefined : contentOf(Number(name.split('/').pop()), 10 + (Number(name.split('/').pop()) * 97) % 16_000)
  })

  await lab.measure(async () => {
    const connection = await dialer.dial(listener.getMultiaddrs())

    for (let i = 0; i < count; i += CONCURRENCY) {
      const values = await Promise.all(Array.from({ length: CONCURRENCY }, async (_, j) => dialer.services.fetch.fetch(connection.remotePeer, `/value/${i + j}`)))

      for (const value of values) {
        fetched += value == null ? 0 : 1
        hash.update(value ?? 'none')
      }
    }
  })

  const absent = await dialer.services.fetch.fetch(listener.peerId, '/value/none')

  return { fetched, absent: `${absent}`, sha256: hash.digest('hex') }
}
