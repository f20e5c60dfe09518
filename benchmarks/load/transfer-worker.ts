import { pEvent } from 'p-event'
import { multiaddrOf } from '../../test/lab/peers/address.ts'
import { STACKS } from '../../test/lab/peers/stacks.ts'
import { serve } from '../../test/lab/process/serve.ts'
import type { Libp2p } from '@libp2p/interface'

/** A node that takes transfers, or makes one on each of many connections: `transfer-worker <stack>` */

const TRANSFER = '/fast-tcp/load/transfer/1.0.0'
const CHUNK = new Uint8Array(64 * 1024).fill(7)

const [name] = process.argv.slice(2) as [keyof typeof STACKS]
const stack = await STACKS[name]()
let node: Libp2p | undefined

async function start (listen: string[]): Promise<Libp2p> {
  return stack.createLibp2p({ ...stack.options, addresses: { listen }, connectionManager: { inboundConnectionThreshold: Infinity } })
}

const tasks = {
  /** Answers so many bytes of a stream with one */
  async listen (host: string, size: number): Promise<string> {
    node = await start([multiaddrOf({ host, port: 0 })])
    await node.handle(TRANSFER, stream => {
      let received = 0

      stream.addEventListener('message', ({ data }) => {
        received += data.byteLength

        if (received === size) {
          stream.send(CHUNK.subarray(0, 1))
        }
      })
    })

    return node.getMultiaddrs()[0].toString()
  },

  /** @returns how long it takes on a new connection until the answer is there, in ms */
  async transfer (address: string, size: number): Promise<number> {
    node ??= await start([])
    const connection = await node.dial(stack.multiaddr(address))
    const stream = await connection.newStream(TRANSFER, stack.streamOptions)
    const began = performance.now()
    const answer = pEvent(stream, 'message', { rejectionEvents: ['close'] })

    for (let sent = 0; sent < size; sent += CHUNK.byteLength) {
      if (!stream.send(CHUNK)) {
        await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
      }
    }

    await answer
    const took = performance.now() - began

    await connection.close()

    return took
  }
}

export type TransferTasks = typeof tasks

serve(tasks)
