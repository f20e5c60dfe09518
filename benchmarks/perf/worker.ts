import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp } from '../../src/index.ts'
import { serve } from '../run/serve.ts'
import { runPerf, servePerf } from './protocol.ts'
import type { Libp2p } from '@libp2p/interface'

export type JsPeer = 'official' | 'transport' | 'ours'

export interface Sample {
  ms: number

  /** ms of the processor, of the dialling process alone */
  cpu: number
}

const STACKS = {
  official: () => ({ transports: [officialTcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()] }),
  transport: () => ({ transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()] }),
  ours: () => ({ transports: [tcp()], connectionEncrypters: [optimistic(noise())], streamMuxers: [optimistic(yamux())] })
}

let node: Libp2p | undefined

async function start (peer: JsPeer, listen: string[]): Promise<Libp2p> {
  node = await createLibp2p({
    ...STACKS[peer](),
    addresses: { listen },
    // it would ping
    connectionMonitor: { enabled: false },
    connectionManager: { inboundConnectionThreshold: 10_000 }
  })

  return node
}

const tasks = {
  /** @returns the address */
  async listen (peer: JsPeer): Promise<string> {
    const listener = await start(peer, ['/ip4/127.0.0.1/tcp/0'])
    await servePerf(listener)

    return listener.getMultiaddrs()[0].toString()
  },

  /** One run over a new connection, whose dial is not in the time */
  async perf (peer: JsPeer, address: string, upload: number, download: number): Promise<Sample> {
    node ??= await start(peer, [])
    const options = peer === 'ours' ? { negotiateFully: false } : {}
    const connection = await node.dial(multiaddr(address), { force: true })

    // the code is compiled, and windows have grown as they do for a peer in use
    await runPerf(connection, 1_048_576, 1_048_576, options)

    const cpu = process.cpuUsage()
    const ms = await runPerf(connection, upload, download, options)
    const { user, system } = process.cpuUsage(cpu)

    await connection.close()

    return { ms, cpu: (user + system) / 1_000 }
  },

  /** The time of a byte up and a byte down, on a new stream each, in ms */
  async latency (peer: JsPeer, address: string, count: number): Promise<number[]> {
    node ??= await start(peer, [])
    const options = peer === 'ours' ? { negotiateFully: false } : {}
    const connection = await node.dial(multiaddr(address), { force: true })
    const samples: number[] = []

    for (let i = 0; i < count; i++) {
      samples.push(await runPerf(connection, 1, 1, options))
    }

    await connection.close()

    return samples
  },

  async stop (): Promise<void> {
    await node?.stop()
  }
}

export type PerfTasks = typeof tasks

serve(tasks)
