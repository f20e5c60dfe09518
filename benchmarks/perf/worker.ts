import { startNode } from '../../test/lab/peers/node.ts'
import { runPerf, servePerf } from '../../test/lab/peers/perf-protocol.ts'
import { STACKS } from '../../test/lab/peers/stacks.ts'
import { serve } from '../../test/lab/process/serve.ts'
import type { Connection, Libp2p } from '@libp2p/interface'

/** A process that is one js peer: `worker <peer>`. */

export type JsPeer = 'official' | 'transport' | 'ours'

export interface Sample {
  ms: number

  /** ms of the processor, of the dialing process alone */
  cpu: number
}

const stack = await STACKS[process.argv[2] as JsPeer]()
let node: Libp2p | undefined

async function withConnection<T> (address: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  node ??= await startNode(stack, {})
  const connection = await node!.dial(stack.multiaddr(address), { force: true })
  const result = await use(connection)
  await connection.close()

  return result
}

const tasks = {
  /** @returns the address */
  async listen (): Promise<string> {
    const listener: Libp2p = await startNode(stack, { addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })
    await servePerf(listener)

    return listener.getMultiaddrs()[0].toString()
  },

  /** One run over a new connection, whose dial is not in the time */
  perf: async (address: string, upload: number, download: number): Promise<Sample> => withConnection(address, async connection => {
    // the code is compiled, and windows have grown as they do for a peer in use
    await runPerf(connection, 1_048_576, 1_048_576, stack.streamOptions)

    const cpu = process.cpuUsage()
    const ms = await runPerf(connection, upload, download, stack.streamOptions)
    const { user, system } = process.cpuUsage(cpu)

    return { ms, cpu: (user + system) / 1_000 }
  }),

  /** The time of a byte up and a byte down, on a new stream each, in ms */
  latency: async (address: string, count: number): Promise<number[]> => withConnection(address, async connection => {
    const samples: number[] = []

    while (samples.length < count) {
      samples.push(await runPerf(connection, 1, 1, stack.streamOptions))
    }

    return samples
  }),

  async stop (): Promise<void> {
    await node?.stop()
  }
}

export type PerfTasks = typeof tasks

serve(tasks)
