import { exec } from '../../test/lab/link/exec.ts'
import { addressOf } from '../../test/lab/peers/address.ts'
import { binaryOf } from '../../test/lab/peers/build.ts'
import { runProgram } from '../../test/lab/process/program.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { activeOpens } from './kernel-counters.ts'
import { isProgram } from './measure.ts'
import type { ProgramStack, StackName } from './measure.ts'
import type { AddressesTasks, Dialed } from './worker.ts'
import type { Link } from '../../test/lab/link/link.ts'
import type { Program } from '../../test/lab/process/program.ts'
import type { Worker } from '../../test/lab/process/worker.ts'

/** A peer, and servers that are not that peer: its id, and the port of each */
export type Listening = Awaited<ReturnType<AddressesTasks['listen']>>

/** Both ends of a dial, of one stack */
export interface Ends {
  listening: Listening

  /** By a node that knows nothing of the peer */
  dial(addresses: string[]): Promise<Dialed>

  /** By the same node as often; a program has none that dials twice */
  dialAgain?(addresses: string[], times: number): Promise<Dialed[]>
  end(): Promise<void>
}

/** How long a program may dial, in ms: all that it tries by default has failed by then */
const TIMEOUT = 60_000

/** Of the live address of a program. The namespace has no other program that could have it */
const HIGH_PORTS: Record<ProgramStack, number> = { go: 65_000, rust: 65_001 }

export async function openEnds (link: Link, stack: StackName): Promise<Ends> {
  return isProgram(stack) ? programEnds(link, stack) : workerEnds(link, stack)
}

export async function startWorkers (link: Link, stack: StackName): Promise<Array<Worker<AddressesTasks>>> {
  const script = scriptPath(import.meta.url, 'worker')

  return Promise.all((['listener', 'dialer'] as const).map(async end => link.start<AddressesTasks>(end, { script, args: [stack], name: `${stack} ${end}` })))
}

async function workerEnds (link: Link, stack: StackName): Promise<Ends> {
  const [listener, dialer] = await startWorkers(link, stack)

  return {
    listening: await listener.ask('listen'),
    dial: async addresses => (await dialer.ask('dial', addresses, 1))[0],
    dialAgain: async (addresses, times) => dialer.ask('dial', addresses, times),
    end: async () => { await Promise.all([listener.end(), dialer.end()]) }
  }
}

/** Such a peer at both ends, and a stranger that is one too */
async function programEnds (link: Link, name: ProgramStack): Promise<Ends> {
  const start = (end: 'listener' | 'dialer', ...args: string[]): Program => runProgram(link.commandAt(end, [binaryOf(name), ...args]))
  // go-libp2p dials the lowest port first: the kernel chooses none as high as these
  const peers = [HIGH_PORTS[name], 0].map(port => start('listener', 'listen', '--host', '0.0.0.0', '--port', `${port}`))
  const dialer = start('dialer', 'dial', '-', '--bytes', '1', '--timeout-ms', `${TIMEOUT}`)
  const others = await link.start<AddressesTasks>('listener', { script: scriptPath(import.meta.url, 'worker'), args: ['official'], name: 'the others' })
  const [live, stranger] = await Promise.all(peers.map(async peer => peer.nextLine()))
  const { ports } = await others.ask('listen')

  return {
    listening: {
      peer: live.peerId,
      ports: { ...ports, live: addressOf(live.multiaddr).port, stranger: addressOf(stranger.multiaddr).port }
    },

    async dial (addresses) {
      const sockets = dialerSockets(link)
      const began = performance.now()

      dialer.write(addresses.join(' '))

      const { ok, firstByteMs, error } = await dialer.nextLine()
      const lasted = performance.now() - began

      return { ...ok === true ? { ms: firstByteMs } : { error }, lasted, sockets: dialerSockets(link) - sockets }
    },

    async end () {
      await Promise.all([...peers, dialer, others].map(async running => running.end()))
    }
  }
}

/** How many sockets have begun to connect in the dialer's namespace */
function dialerSockets (link: Link): number {
  const [file, ...args] = link.commandAt('dialer', ['cat', '/proc/self/net/snmp'])

  return activeOpens(exec(file, ...args))
}
