import { once } from 'node:events'
import net from 'node:net'
import { serve } from '../process/serve.ts'
import { roundTripTo } from './round-trip.ts'

/** A process at one end of a link that measures it by plain sockets. */

const tasks = {
  /** @returns the port */
  async listen (host: string): Promise<number> {
    const server = net.createServer({ noDelay: true }, socket => {
      socket.on('error', () => {})
      socket.pipe(socket)
    })
    server.listen(0, host)
    await once(server, 'listening')

    return (server.address() as net.AddressInfo).port
  },

  roundTripTo
}

export type ProbeTasks = typeof tasks

serve(tasks)
