import net from 'node:net'
import { Tally, payload, sendAll } from './kit.ts'
import type { Kit, Seen } from './kit.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { Listener, MultiaddrConnection } from '@libp2p/interface'

/** What the listener does with a connection */
export type Behaviour = 'echo' | 'count' | 'send and close' | 'abort' | 'say nothing'

/** What a server that knows nothing of libp2p does with a socket */
export type RawBehaviour = 'FIN, then read' | 'read slowly and talk' | 'RST' | 'FIN' | 'say nothing'

const SENT = 3 * 1_048_576

/**
 * What the dialing process can ask of the listening one. What goes over the wire
 * between them is JSON.
 */
export class Verbs {
  readonly #kit: Kit
  readonly #seen: Seen[] = []
  #listener?: Listener
  #node?: Awaited<ReturnType<Kit['node']>>

  constructor (kit: Kit) {
    this.#kit = kit
  }

  async listen (address: string, behaviour: Behaviour, init?: TCPOptions): Promise<string[]> {
    this.#seen.length = 0
    this.#listener = await this.#kit.listen(address, connection => {
      this.#seen.push(new Tally().of(connection).seen)
      behave(connection, behaviour)
    }, init)

    return this.#listener.getAddrs().map(ma => ma.toString())
  }

  async closeListener (): Promise<void> {
    await this.#listener?.close()
  }

  async serve (behaviour: RawBehaviour): Promise<number> {
    this.#seen.length = 0

    return this.#kit.server(socket => {
      const tally = new Tally()
      this.#seen.push(tally.seen)
      handle(socket, behaviour, tally)
    })
  }

  /** What the connections have seen, the oldest first */
  async seen (): Promise<Seen[]> {
    return this.#seen
  }

  async node (): Promise<string[]> {
    this.#node = await this.#kit.node(['/ip4/127.0.0.1/tcp/0'])

    return this.#node.getMultiaddrs().map(ma => ma.toString())
  }

  async connections (): Promise<number> {
    return this.#node?.getConnections().length ?? 0
  }

  async stopNode (): Promise<void> {
    await this.#node?.stop()
  }

  async end (): Promise<void> {
    await this.#kit.end()
  }
}

function behave (connection: MultiaddrConnection, behaviour: Behaviour): void {
  switch (behaviour) {
    case 'echo':
      connection.addEventListener('message', ({ data }) => {
        if (!connection.send(data)) {
          connection.pause()
          connection.onDrain().then(() => { connection.resume() }, () => {})
        }
      })
      break
    case 'send and close':
      sendAll(connection, payload(SENT)).then(async () => connection.close()).catch(() => {})
      break
    case 'abort':
      connection.addEventListener('message', () => { connection.abort(new Error('aborted')) })
      break
    default:
  }
}

function handle (socket: net.Socket, behaviour: RawBehaviour, tally: Tally): void {
  socket.on('close', () => { tally.seen.closed = true })
  socket.on('error', ({ code }: NodeJS.ErrnoException) => { tally.seen.error = code })

  switch (behaviour) {
    case 'FIN, then read':
      socket.end()
      setTimeout(() => { socket.on('data', data => { tally.add(data) }) }, 300)
      socket.on('end', () => { socket.destroy() })
      break
    case 'read slowly and talk':
      void readSlowly(socket, tally)
      break
    case 'RST':
      socket.once('data', () => { socket.resetAndDestroy() })
      break
    case 'FIN':
      socket.resume()
      socket.once('data', () => { socket.end() })
      break
    default:
      socket.resume()
  }
}

/**
 * Reads what comes with a rest of 10 ms after each piece, and sends 12 bytes every
 * 100 ms. Resolves when the peer has ended.
 */
export async function readSlowly (socket: net.Socket, tally: Tally): Promise<void> {
  const talk = setInterval(() => { socket.write('twelve bytes') }, 100)
  const ended = new Promise<void>(resolve => {
    socket.on('end', resolve)
    socket.on('close', resolve)
  })

  // Deno reads nothing by read() on a socket that was paused
  socket.pause()
  socket.on('data', data => {
    tally.add(data)
    socket.pause()
    setTimeout(() => { socket.resume() }, 10)
  })

  // the sender has closed before most of it is read
  setTimeout(() => { socket.resume() }, 500)

  await ended
  clearInterval(talk)
  tally.seen.closed = true
  socket.destroy()
}
