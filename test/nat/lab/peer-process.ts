import { EventEmitter } from 'node:events'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { pEvent } from 'p-event'

/** A line that a peer prints; README.md describes them */
export interface PeerEvent {
  event: string
  peer?: string
  address?: string
  multiaddr?: string
  peerId?: string
  observed?: string[]
  addresses?: string[]
  reason?: string
  ok?: boolean
  redialed?: boolean

  /** That it listens on */
  port?: number

  /** Of `resources`: how many there are */
  sockets?: number
  listeners?: number
  timers?: number

  /** Of `direct`: since the relayed connection, in ms */
  ms?: number
}

export interface Peer {
  /** All that it told so far, the oldest first */
  events: PeerEvent[]

  /**
   * The first of such events, also one that is over
   *
   * @throws {Error} if the process ends first, or after so many ms
   */
  until(timeout: number, predicate: (event: PeerEvent) => boolean): Promise<PeerEvent>
  send(command: string): void

  /** Resolves when the process has ended */
  close(): Promise<void>
}

/**
 * Starts a peer. It ends at the signal, and with this process, however that ends.
 */
export function startPeer ([file, ...args]: string[], signal: AbortSignal): Peer {
  const subprocess = execa(file, args, { reject: false, buffer: false, stderr: 'pipe', cancelSignal: signal })
  const emitter = new EventEmitter()
  const events: PeerEvent[] = []
  let complaints = ''
  let ended = false

  emitter.setMaxListeners(0)
  createInterface(subprocess.stdout).on('line', line => {
    const event: PeerEvent = JSON.parse(line)
    events.push(event)
    emitter.emit('told', event)
  })
  subprocess.stderr.on('data', data => { complaints = (complaints + data).slice(-2_000) })
  void subprocess.then(() => {
    ended = true
    emitter.emit('end')
  })

  return {
    events,
    async until (timeout, predicate) {
      const told = events.find(predicate)

      if (told != null) {
        return told
      }

      try {
        if (ended) {
          throw new Error('it has ended')
        }

        return await pEvent<'told', PeerEvent>(emitter as any, 'told', { timeout, filter: predicate, rejectionEvents: ['end'] })
      } catch (err: any) {
        throw new Error(`${ended ? 'the peer ended' : `nothing within ${timeout} ms`}: ${complaints}`, { cause: err })
      }
    },
    send (command) {
      subprocess.stdin.write(`${command}\n`)
    },
    async close () {
      // what tells every kind of peer to leave
      subprocess.stdin.end()
      const timer = setTimeout(() => { subprocess.kill('SIGKILL') }, 3_000)
      await subprocess
      clearTimeout(timer)
    }
  }
}
