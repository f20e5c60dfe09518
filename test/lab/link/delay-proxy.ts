import net from 'node:net'
import { DelayLine } from './delay-line.ts'
import type { DelayLineOptions } from './delay-line.ts'

export interface DelayProxyInit extends DelayLineOptions {
  /** Where connections end up */
  target: { host: string, port: number }
}

export interface DelayProxy {
  host: string
  port: number

  /** Destroys every connection and stops listening. May be called twice */
  close(): Promise<void>
}

/** Bytes in flight before reading from the sender stops */
const WINDOW = 16 * 1024 * 1024

/**
 * A TCP proxy that holds every chunk, FIN and RST back for `delay` milliseconds
 * in each direction.
 *
 * It ends TCP, so the kernel completes the dialer's SYN at once: a dial over
 * it looks one round trip cheaper than over a real link. What follows is as
 * over a real link: the target sees the connection one delay after the dialer
 * did, as it would see the ACK that ends the three-way handshake.
 *
 * Nagle's algorithm and loss recovery happen between kernels, which the proxy
 * keeps apart: measure those over another kind of link.
 */
export async function delayProxy (init: DelayProxyInit): Promise<DelayProxy> {
  const sockets = new Set<net.Socket>()

  function track (socket: net.Socket): void {
    sockets.add(socket)
    // an RST is passed on by the direction that reads it
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }

  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = new net.Socket({ allowHalfOpen: true })
    far.setNoDelay(true)
    track(near)
    track(far)

    const later = passOn(near, far, init)
    passOn(far, near, init)
    later(() => { far.connect(init.target) })
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })

  const { address, port } = server.address() as net.AddressInfo
  let closed: Promise<void> | undefined

  return {
    host: address,
    port,
    async close () {
      closed ??= new Promise<void>(resolve => {
        server.close(() => { resolve() })
        sockets.forEach(socket => socket.destroy())
      })

      return closed
    }
  }
}

/**
 * Passes everything that can be seen of `from` (bytes, FIN, RST) on to `to`, in
 * order and late.
 *
 * @returns a function that does something else in that order
 */
function passOn (from: net.Socket, to: net.Socket, options: DelayLineOptions): (act: () => void) => void {
  let inFlight = 0
  const line = new DelayLine<() => void>({ ...options, blocked: () => to.writableNeedDrain, deliver: act => { act() } })

  function later (act: () => void): void {
    if (!to.destroyed) {
      line.push(act)
    }
  }

  function count (bytes: number): void {
    inFlight += bytes

    if (inFlight > WINDOW) {
      from.pause()
    } else {
      from.resume()
    }
  }

  from.on('data', chunk => {
    later(() => {
      to.write(chunk)
      count(-chunk.byteLength)
    })
    count(to.destroyed ? 0 : chunk.byteLength)
  })
  from.once('end', () => { later(() => to.end()) })
  from.once('close', hadError => {
    if (hadError) {
      later(() => to.resetAndDestroy())
    }
  })
  to.on('drain', () => { line.wake() })
  to.once('close', () => {
    // nothing can be delivered any more
    line.clear()
    from.resume()
  })

  return later
}
