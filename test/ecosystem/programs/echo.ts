import { contentOf, hashOf } from './content.ts'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

export const ECHO = '/ecosystem/echo/1.0.0'

/** Echo what comes, and close after the remote has closed its side */
export async function handleEcho (node: Libp2p<any>): Promise<void> {
  await node.handle(ECHO, async stream => {
    for await (const data of stream) {
      if (!stream.send(data)) {
        await stream.onDrain()
      }
    }

    await stream.close()
  }, { maxInboundStreams: 1_000, maxOutboundStreams: 1_000, runOnLimitedConnection: true })
}

/** Send content, compare what comes back, and return its hash */
export async function echoOver (connection: Connection, seed: number, length: number): Promise<string> {
  const stream = await connection.newStream(ECHO, { runOnLimitedConnection: true })
  const content = contentOf(seed, length)
  const [, echoed] = await Promise.all([sendAll(stream, content), hashAll(stream)])
  const sha256 = hashOf(content).digest('hex')

  if (echoed !== sha256) {
    throw new Error(`The echo of ${length} bytes is ${echoed}, and not ${sha256}`)
  }

  return sha256
}

async function sendAll (stream: Stream, content: Uint8Array): Promise<void> {
  for (let i = 0; i < content.length; i += 65_536) {
    if (!stream.send(content.subarray(i, i + 65_536))) {
      await stream.onDrain()
    }
  }

  await stream.close()
}

async function hashAll (stream: Stream): Promise<string> {
  const hash = hashOf()

  for await (const data of stream) {
    for (const part of data instanceof Uint8Array ? [data] : data) {
      hash.update(part)
    }
  }

  return hash.digest('hex')
}
