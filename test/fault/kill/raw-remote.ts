/*
 * A plain TCP peer to be killed: `raw-remote.ts "<state>"` tells its port.
 */
import net from 'node:net'
import type { RawState } from './kill.ts'

const state: RawState = JSON.parse(process.argv[2])
const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, socket => {
  socket.on('error', () => {})

  if (state === 'half-closed') {
    socket.end()
  }
})

server.listen({ host: '127.0.0.1', port: 0, backlog: state === 'dialing' ? 1 : undefined }, () => {
  process.stdout.write(`${JSON.stringify((server.address() as net.AddressInfo).port)}\n`, () => {
    if (state === 'dialing' || state === 'connected') {
      // only the kernel answers from now on
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    }
  })
})
