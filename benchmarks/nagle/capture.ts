import { EventEmitter, once } from 'node:events'
import { execa } from 'execa'
import { parsePacket } from './packet.ts'
import type { Packet } from './packet.ts'
import type { Link, LinkEnd } from '../../test/lab/link/link.ts'

/** All TCP segments that one end of a link sends or receives */
export interface Capture {
  packets: Packet[]

  /** The first of the packets that passes the test, once there is one, or an error after a timeout in ms */
  sees(test: (packet: Packet) => boolean, timeout: number): Promise<Packet>
  clear(): void
  stop(): Promise<void>
}

// numbers for times, addresses and sequence numbers, at once and line by line
const TCPDUMP = ['tcpdump', '-tt', '-n', '-S', '-l', '--immediate-mode', '-s', '128', '-i', 'any', 'tcp']

/** Runs tcpdump at one end of a link until it is stopped or the link is closed. */
export async function startCapture (link: Link, end: LinkEnd): Promise<Capture> {
  const [file, ...args] = link.commandAt(end, TCPDUMP)
  const tcpdump = execa(file, args, { stdin: 'ignore', buffer: false, reject: false })
  const packets: Packet[] = []
  const events = new EventEmitter()
  const ended = read()

  await listening(tcpdump.iterable({ from: 'stderr' }))

  async function read (): Promise<void> {
    for await (const line of tcpdump.iterable()) {
      const packet = parsePacket(String(line))

      if (packet != null) {
        packets.push(packet)
        events.emit('more')
      }
    }
  }

  return {
    packets,
    sees: async (test, timeout) => resultOf(() => packets.find(test), events, timeout, `tcpdump at the ${end} did not see what it was to see`),
    clear: () => { packets.length = 0 },

    async stop () {
      tcpdump.kill('SIGINT')
      await ended
    }
  }
}

/**
 * What a function returns as soon as that is something. It is called again at each
 * event `more`.
 *
 * @throws {Error} after a timeout in ms
 */
export async function resultOf<T> (look: () => T | undefined, events: EventEmitter, timeout: number, complaint: string): Promise<T> {
  const signal = AbortSignal.timeout(timeout)
  let result = look()

  while (result == null) {
    await once(events, 'more', { signal }).catch(err => {
      throw new Error(`${complaint} within ${timeout} ms`, { cause: err })
    })
    result = look()
  }

  return result
}

/** Its stderr is read to the end: a pipe that we close would end it. */
async function listening (stderr: AsyncIterable<unknown>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const said: unknown[] = []

  void (async () => {
    for await (const line of stderr) {
      said.push(line)

      if (String(line).includes('listening on')) {
        resolve()
      }
    }

    reject(new Error(`tcpdump: ${said.join('\n')}`))
  })()

  return promise
}
