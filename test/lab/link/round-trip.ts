import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { median } from '../statistics.ts'
import type { Address } from './link.ts'

/** The median round trip to what listens at an address, in ms: the time that it takes to connect, or to have a byte echoed. */
export async function roundTripTo (address: Address, runs: number, by: 'connect' | 'echo' = 'connect'): Promise<number> {
  const samples: number[] = []

  while (samples.length < runs) {
    samples.push(await (by === 'connect' ? timeConnect : timeEcho)(address))
  }

  return median(samples)
}

/** Milliseconds until a connection is open. The kernel answers a SYN, so this times what lies between and no program. */
async function timeConnect (address: Address): Promise<number> {
  const start = performance.now()
  const socket = net.connect(address)
  await once(socket, 'connect')
  const elapsed = performance.now() - start
  socket.destroy()

  return elapsed
}

/** Milliseconds until a byte is back over an open connection, for a link that answers a SYN before its time. */
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
