import { once } from 'node:events'
import net from 'node:net'
import { endWithParent } from '../run/end-with-parent.ts'
import { timeConnect, timeEcho } from './round-trip.ts'
import type { Address } from './link.ts'

/**
 * A process at one end of a link that measures it by plain sockets.
 */

export type ProbeRequest =
  { type: 'listen', host: string } |
  { type: 'connect' | 'echo', address: Address, runs: number }

export type ProbeReply =
  { type: 'listening', port: number } |
  { type: 'samples', samples: number[] }

async function listen (host: string): Promise<ProbeReply> {
  const server = net.createServer({ noDelay: true }, socket => {
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  server.listen(0, host)
  await once(server, 'listening')

  return { type: 'listening', port: (server.address() as net.AddressInfo).port }
}

endWithParent()
process.on('message', (request: ProbeRequest) => {
  void (async () => {
    if (request.type === 'listen') {
      process.send?.(await listen(request.host))
      return
    }

    const time = request.type === 'connect' ? timeConnect : timeEcho
    const samples: number[] = []

    for (let i = 0; i < request.runs; i++) {
      samples.push(await time(request.address))
    }

    process.send?.({ type: 'samples', samples })
  })()
})
