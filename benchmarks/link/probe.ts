import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'
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

/**
 * The kernel answers a SYN, so this times the link alone.
 */
async function timeConnect (address: Address): Promise<number> {
  const start = performance.now()
  const socket = net.connect(address)
  await once(socket, 'connect')
  const elapsed = performance.now() - start
  socket.destroy()

  return elapsed
}

/**
 * For a link that answers a SYN before its time.
 */
async function timeEcho (address: Address): Promise<number> {
  const socket = net.connect({ ...address, noDelay: true })
  socket.write('.')
  await once(socket, 'data')
  const start = performance.now()
  socket.write('.')
  await once(socket, 'data')
  const elapsed = performance.now() - start
  socket.destroy()

  return elapsed
}

process.once('disconnect', () => process.exit())
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
