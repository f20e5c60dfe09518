import { once } from 'node:events'
import net from 'node:net'
import { serve } from '../run/serve.ts'
import { timeConnect, timeEcho } from './round-trip.ts'
import type { Address } from './link.ts'

/**
 * A process at one end of a link that measures it by plain sockets.
 */

const tasks = {
  /**
   * @returns the port
   */
  async listen (host: string): Promise<number> {
    const server = net.createServer({ noDelay: true }, socket => {
      socket.on('error', () => {})
      socket.pipe(socket)
    })
    server.listen(0, host)
    await once(server, 'listening')

    return (server.address() as net.AddressInfo).port
  },

  /**
   * @param by - what takes a round trip: an open connection, or one that is used
   */
  async time (by: 'connect' | 'echo', address: Address, runs: number): Promise<number[]> {
    const time = by === 'connect' ? timeConnect : timeEcho
    const samples: number[] = []

    for (let i = 0; i < runs; i++) {
      samples.push(await time(address))
    }

    return samples
  }
}

export type ProbeTasks = typeof tasks

serve(tasks)
