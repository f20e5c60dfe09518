import { identify } from '@libp2p/identify'
import { generateKey, preSharedKey } from '@libp2p/pnet'
import { echoOver, handleEcho } from './echo.ts'
import { deadline } from './lab.ts'
import type { Facts, Lab } from './lab.ts'

/** A private network: echoes with the same key, and none with another one */
export default async function run (lab: Lab): Promise<Facts> {
  const [psk, otherPsk] = [new Uint8Array(95), new Uint8Array(95)]
  generateKey(psk)
  generateKey(otherPsk)

  const create = async (psk: Uint8Array): ReturnType<Lab['node']> => lab.node({ connectionProtector: preSharedKey({ psk }), services: { identify: identify() } })
  const [dialer, listener, stranger] = await Promise.all([create(psk), create(psk), create(otherPsk)])
  const hashes: string[] = []

  await handleEcho(listener)

  await lab.measure(async () => {
    for (let i = 0; i < lab.amount(20, 4); i++) {
      const connection = await dialer.dial(listener.getMultiaddrs())
      hashes.push(await echoOver(connection, i, i === 0 ? 8 * 1_048_576 : 10_000 * i))
      await connection.close()
    }
  })

  const refused = await stranger.dial(listener.getMultiaddrs(), { signal: deadline(5_000) }).then(() => 'no', () => 'yes')

  return { refused, echoes: hashes.length, last: hashes[hashes.length - 1] }
}
