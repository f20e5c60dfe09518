import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { pipe } from 'it-pipe'
import { parsePacket } from './packet.ts'
import type { Packet } from './packet.ts'
import type { Link, LinkEnd } from '../link/link.ts'
import type { ChildProcess } from 'node:child_process'

/**
 * All TCP segments that one end of a link sends or receives
 */
export interface Capture {
  packets: Packet[]

  /**
   * Resolves to the first of the packets that passes the test, once there is one.
   * Rejects after a timeout in milliseconds.
   */
  sees(test: (packet: Packet) => boolean, timeout: number): Promise<Packet>

  /**
   * Forgets the packets so far.
   */
  clear(): void
  stop(): Promise<void>
}

// numbers for times, addresses and sequence numbers, at once and line by line
const TCPDUMP = ['tcpdump', '-tt', '-n', '-S', '-l', '--immediate-mode', '-s', '128', '-i', 'any', 'tcp']

/**
 * Runs tcpdump at one end of a link until it is stopped or the link is closed.
 */
export async function startCapture (link: Link, end: LinkEnd): Promise<Capture> {
  const [file, ...args] = link.commandAt(end, TCPDUMP)
  const tcpdump = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const packets: Packet[] = []
  const events = new EventEmitter()

  await listening(tcpdump)

  const ended = pipe(tcpdump.stdout, lines, async source => {
    for await (const line of source) {
      const packet = parsePacket(line)

      if (packet != null) {
        packets.push(packet)
        events.emit('packet')
      }
    }
  })

  return {
    packets,

    async sees (test, timeout) {
      const signal = AbortSignal.timeout(timeout)

      while (true) {
        const packet = packets.find(test)

        if (packet != null) {
          return packet
        }

        await once(events, 'packet', { signal }).catch(err => {
          throw new Error(`tcpdump at the ${end} did not see within ${timeout} ms what it was to see`, { cause: err })
        })
      }
    },

    clear () {
      packets.length = 0
    },

    async stop () {
      tcpdump.kill('SIGINT')
      await ended
    }
  }
}

/**
 * tcpdump says that it is listening when it does, and before it fails why. Its
 * stderr is read to the end: a pipe that we close would end it.
 */
async function listening (tcpdump: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = ''

  tcpdump.stderr?.on('data', chunk => {
    said += String(chunk)

    if (said.includes('listening on')) {
      resolve()
    }
  })
  tcpdump.once('error', reject)
  tcpdump.once('close', () => { reject(new Error(`tcpdump: ${said.trim()}`)) })

  return promise
}

async function * lines (source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = ''

  for await (const chunk of source) {
    const complete = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = complete.pop() ?? ''
    yield * complete
  }
}
