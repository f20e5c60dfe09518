/* eslint-disable no-console */
/*
 * Deno 2.9 without us: a peer sends FIN, then reads. On Node and Bun it receives
 * 8 MiB, on Deno what fits into the kernel's buffer, and the writer has EPIPE.
 */
import net from 'node:net'

const SIZE = 8 * 1_048_576

const server = net.createServer({ allowHalfOpen: true }, socket => {
  let received = 0

  socket.end()
  socket.on('data', data => { received += data.byteLength })
  socket.on('error', () => {})
  socket.on('close', () => {
    console.info('%d of %d bytes arrived', received, SIZE)
    server.close()
  })
})

server.listen(0, '127.0.0.1', () => {
  const socket = net.connect({ port: (server.address() as net.AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })

  socket.on('error', error => { console.info(error.message) })
  socket.on('end', () => {
    socket.write(new Uint8Array(SIZE))
    socket.end()
  })
  socket.resume()
})
