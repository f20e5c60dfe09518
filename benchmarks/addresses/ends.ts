import { addressOf } from '../../test/lab/peers/address.ts'
import { binaryOf } from '../../test/lab/peers/build.ts'
import { runProgram } from '../../test/lab/process/program.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { activeOpens, runAt } from './network.ts'
import type { AddressesTasks, Dialed } from './worker.ts'
import type { Link } from '../../test/lab/link/link.ts'
import type { Program } from '../../test/lab/process/program.ts'
import type { Worker } from '../../test/lab/process/worker.ts'

/** Programs of other languages dial themselves, with the options of their libraries at their defaults */
export const STACKS = ['official', 'transport', 'ours', 'go', 'rust'] as const

export type StackName = typeof STACKS[number]
type ProgramStack = 'go' | 'rust'

/** A peer, and what is no peer: its id, and the port of each */
export type Listening = Awaited<ReturnType<AddressesTasks['listen']>>

/** Both ends of a dial, of one stack */
export interface Ends {
  listening: Listening

  /** By a node that knows nothing of the peer */
  dial(addresses: string[]): Promise<Dialed>

  /** By the same node once more; a program has none that dials twice */
  dialAgain?(addresses: string[]): Promise<Dialed>
  end(): Promise<void>
}

/** How long a program may dial, in ms: all that it tries by default has failed by then */
const TIMEOUT = 60_000

/** Of the live address of a program. The namespace has no other program that could have it */
const HIGH_PORTS: Record<ProgramStack, number> = { go: 65_000, rust: 65_001 }

export function isProgram (stack: StackName): stack is ProgramStack {
  return stack === 'go' || stack === 'rust'
}

export async function openEnds (link: Link, stack: StackName): Promise<Ends> {
  if (isProgram(stack)) {
    return programEnds(link, stack)
  }

  const [listener, dialer] = await startWorkers(link, stack)

  return {
    listening: await listener.ask('listen'),
    dial: async addresses => (await dialer.ask('dial', addresses, 1))[0],
    dialAgain: async addresses => (await dialer.ask('dial', addresses, 2))[1],
    end: async () => { await Promise.all([listener, dialer].map(async worker => worker.end())) }
  }
}

export async function startWorkers (link: Link, stack: StackName): Promise<Array<Worker<AddressesTasks>>> {
  return Promise.all((['listener', 'dialer'] as const).map(async end => startWorker(link, end, stack)))
}

async function startWorker (link: Link, end: 'listener' | 'dialer', stack: StackName): Promise<Worker<AddressesTasks>> {
  return link.start<AddressesTasks>(end, { script: scriptPath(import.meta.url, 'worker'), args: [stack], name: `${stack} ${end}` })
}

/** Such a peer at both ends */
async function programEnds (link: Link, name: ProgramStack): Promise<Ends> {
  const start = (end: 'listener' | 'dialer', ...args: string[]): Program => runProgram(link.commandAt(end, [binaryOf(name), ...args]))
  // go-libp2p dials the lowest port first: the kernel chooses none as high as these
  const peer = start('listener', 'listen', '--host', '0.0.0.0', '--port', `${HIGH_PORTS[name]}`)
  const dialer = start('dialer', 'dial', '-', '--bytes', '1', '--timeout-ms', `${TIMEOUT}`)
  const live = await peer.nextLine()
  const { ports } = await (await startWorker(link, 'listener', 'official')).ask('listen')
  const sockets = (): number => activeOpens(runAt(link, 'dialer', 'cat', '/proc/self/net/snmp'))

  return {
    listening: { peer: live.peerId, ports: { ...ports, live: addressOf(live.multiaddr).port } },

    async dial (addresses) {
      const before = sockets()
      const began = performance.now()

      dialer.write(addresses.join(' '))

      const { ok, firstByteMs } = await dialer.nextLine()
      const lasted = performance.now() - began

      return { ...ok === true ? { ms: firstByteMs } : {}, lasted, sockets: sockets() - before }
    },

    end: async () => { await Promise.all([peer, dialer].map(async program => program.end())) }
  }
}
