import net from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { tell } from '../../lab/process/lines.ts'

/*
 * A process that opens many connections and behaves badly on all of them, until
 * its parent ends it. Answers every line with what has become of them.
 */

export type Behaviour =
  /** Sends as much as it can, and never reads */
  'flood' |
  /** Sends a handshake, one byte a second */
  'slowloris'

export interface Attack {
  behaviour: Behaviour
  port: number
  connections: number

  /** By default all at once */
  perSecond?: number
}

export interface Attacked {
  connected: number
  open: number
  sent: number
}

const { behaviour, port, connections, perSecond }: Attack = JSON.parse(process.argv[2])
const sockets: net.Socket[] = []
const chunk = new Uint8Array(64 * 1024)
const handshake = new TextEncoder().encode('\x13/multistream/1.0.0\n\x07/noise\n\x00\x20')
const connected = new Set<net.Socket>()

/** So many at once where there are so many per second */
const PORTION = 10

const behaviours: Record<Behaviour, (socket: net.Socket) => void> = {
  flood (socket) {
    const send = (): void => {
      while (socket.write(chunk)) {
        // until the kernel takes no more
      }
    }

    socket.pause()
    socket.on('drain', send)
    send()
  },
  slowloris (socket) {
    let next = 0

    socket.resume()
    every(1_000, socket, () => { socket.write(handshake.subarray(next, ++next)) })
  }
}

createInterface({ input: process.stdin }).on('line', () => {
  const attacked: Attacked = {
    connected: connected.size,
    open: sockets.filter(({ destroyed }) => !destroyed).length,
    sent: sockets.reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0)
  }

  tell(attacked)
}).on('close', () => { process.exit() })

for (let i = 0; i < connections; i++) {
  if (perSecond != null && i % PORTION === 0) {
    await delay(1_000 * PORTION / perSecond)
  }

  const socket = net.connect({ host: '127.0.0.1', port, localAddress: `127.0.0.${2 + i % 10}` })

  socket.on('error', () => {})
  socket.on('connect', () => {
    connected.add(socket)
    behaviours[behaviour](socket)
  })
  sockets.push(socket)
}

function every (ms: number, socket: net.Socket, callback: () => void): void {
  const timer = setInterval(callback, ms)
  socket.on('close', () => { clearInterval(timer) })
}
