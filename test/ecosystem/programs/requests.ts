import { identify } from '@libp2p/identify'
import { contentOf, hashOf } from './content.ts'
import { deadline } from './lab.ts'
import type { Facts, Lab } from './lab.ts'
import type { Connection } from '@libp2p/interface'

/** As Lodestar asks: a stream for each request, closed for writing, and an answer in chunks until the end */
const PROTOCOL = '/eth2/beacon_chain/req/beacon_blocks_by_range/2/ssz_snappy'
const CHUNKS = 8
const CHUNK = 2_048
const CONCURRENCY = 5

export default async function run (lab: Lab): Promise<Facts> {
  const [node, ...peers] = await Promise.all(Array.from({ length: lab.amount(51, 11) }, async () => lab.node({ services: { identify: identify() } })))
  const requests = lab.amount(40, 10)
  let bytes = 0
  let answered = 0

  await Promise.all(peers.map(async peer => peer.handle(PROTOCOL, async stream => {
    const request: Uint8Array[] = []

    for await (const data of stream) {
      request.push(data.subarray())
    }

    const seed = Number(new TextDecoder().decode(Buffer.concat(request)))

    for (let i = 0; i < CHUNKS; i++) {
      if (!stream.send(contentOf(seed + i, CHUNK))) {
        await stream.onDrain()
      }
    }

    await stream.close()
  })))

  await lab.measure(async () => {
    await Promise.all(peers.map(async (peer, i) => {
      const connection = await node.dial(peer.getMultiaddrs(), { signal: deadline(60_000) })

      for (let j = 0; j < requests; j += CONCURRENCY) {
        const answers = await Promise.all(Array.from({ length: CONCURRENCY }, async (_, k) => request(connection, i * 100_000 + j * 100 + k)))

        for (const length of answers) {
          bytes += length
          answered++
        }
      }
    }))
  })

  return { answered, bytes, connections: node.getConnections().length }
}

async function request (connection: Connection, seed: number): Promise<number> {
  const signal = deadline(60_000)
  const stream = await connection.newStream(PROTOCOL, { signal })
  const answer: Uint8Array[] = []

  stream.send(new TextEncoder().encode(`${seed}`))
  await stream.close({ signal })

  for await (const data of stream) {
    answer.push(data.subarray())
  }

  const expected = hashOf(...Array.from({ length: CHUNKS }, (_, i) => contentOf(seed + i, CHUNK))).digest('hex')

  if (hashOf(...answer).digest('hex') !== expected) {
    throw new Error(`The answer to ${seed} is another one: ${Buffer.concat(answer).length} bytes`)
  }

  return CHUNKS * CHUNK
}
