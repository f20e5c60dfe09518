import { openLink } from '../lab/link/open-link.ts'
import { scriptPath } from '../lab/script-path.ts'
import { runCells } from '../lab/suite/run-cells.ts'
import { isNative, nameOf } from './cells.ts'
import { runDialer, startListener } from './peer-process.ts'
import { dialsOf } from './results.ts'
import type { Binaries } from './binaries.ts'
import type { Cell, PeerKind } from './cells.ts'
import type { ListenerProcess } from './peer-process.ts'
import type { Dials } from './results.ts'
import type { Link } from '../lab/link/link.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

export interface DialOptions extends Pick<SuiteContext, 'signal' | 'again'> {
  /** Dials per cell, one after another */
  dials: number

  /** Of a cell, before those that count */
  warmUps?: number

  /** The size of the echo */
  bytes: number

  /** What one dial may take, in ms; 10 s by default */
  dialTimeout?: number

  /** What all dials of a cell may take, in ms; a minute by default */
  cellTimeout?: number

  /** Cells at a time; 1 where time matters */
  concurrency: number

  binaries: Binaries
  complaints(run: CellRun): string[]
}

export interface CellRun {
  cell: Cell
  dials: Dials
}

const DIAL_TIMEOUT = 10_000

const CELL_TIMEOUT = 60_000

/**
 * Dials every cell over the link. A listener is one process for all of its
 * cells, a dialer is one for each.
 */
export async function dialCells (link: Link, cells: Cell[], options: DialOptions): Promise<CellRun[]> {
  const { dials, warmUps = 0, cellTimeout = CELL_TIMEOUT, concurrency, signal, again, complaints } = options
  const listeners = new Map<string, Promise<ListenerProcess>>()

  async function listenerFor (cell: Cell): Promise<ListenerProcess> {
    const key = listenerOf(cell)
    const listener = listeners.get(key) ?? startListener(link.commandAt('listener', listenCommand(cell, link, options)), signal)
    listeners.set(key, listener)

    return listener
  }

  try {
    return await runCells(cells.map(cell => ({
      name: `${link.kind}: ${nameOf(cell)}`,
      again: again({ only: nameOf(cell) }),
      async run (): Promise<CellRun> {
        const { multiaddr } = await listenerFor(cell)
        const command = dialCommand(cell, await behind(link, multiaddr), options)
        const outcomes = await runDialer(link.commandAt('dialer', command), warmUps + dials, cellTimeout, signal)

        return { cell, dials: dialsOf(outcomes.slice(warmUps)) }
      }
    })), signal, run => ({
      summary: `${run.dials.successes} of ${run.dials.dials}`,
      complaints: complaints(run)
    }), concurrency)
  } finally {
    // one that did not start has ended
    await Promise.all([...listeners.values()].map(async listener => listener.then(async started => started.close(), () => {})))
  }
}

export async function overLink <T> (delay: number, use: (link: Link) => Promise<T>): Promise<T> {
  const link = await openLink({ delay })

  try {
    return await use(link)
  } finally {
    await link.close()
  }
}

function listenCommand ({ listener, security, listenerOptimism, gater, peerStore }: Cell, link: Link, { binaries }: DialOptions): string[] {
  return [
    ...program(listener, binaries), 'listen',
    '--security', security,
    '--host', link.listenHost,
    // 1,000 at once are more than its library takes by default
    ...(listener === 'rust' ? ['--streams', '4096'] : []),
    ...(listenerOptimism == null ? [] : ['--optimism', listenerOptimism]),
    ...(gater == null ? [] : ['--gater', `${gater}`]),
    ...peerStoreOf(listener, peerStore)
  ]
}

function listenerOf ({ listener, security, listenerOptimism, gater, peerStore }: Cell): string {
  return [listener, security, listenerOptimism, gater, peerStore].join(' ')
}

function peerStoreOf (kind: PeerKind, peerStore: number | undefined): string[] {
  return peerStore == null || isNative(kind) ? [] : ['--peer-store', `${peerStore}`]
}

function dialCommand ({ dialer, optimism, identify, security, streams, peerStore }: Cell, address: string, { binaries, dials, warmUps = 0, bytes, dialTimeout = DIAL_TIMEOUT }: DialOptions): string[] {
  return [
    ...program(dialer, binaries), 'dial', address,
    '--security', security,
    '--count', `${warmUps + dials}`,
    '--bytes', `${bytes}`,
    '--timeout-ms', `${dialTimeout}`,
    ...(optimism == null ? [] : ['--optimism', optimism]),
    ...(identify === true ? ['--identify'] : []),
    ...(streams == null ? [] : ['--streams', `${streams}`]),
    ...peerStoreOf(dialer, peerStore)
  ]
}

function program (kind: PeerKind, binaries: Binaries): string[] {
  if (kind === 'ours' || kind === 'official') {
    return [process.execPath, scriptPath(import.meta.url, 'js-peer'), '--stack', kind]
  }

  const binary = binaries[kind]

  if (binary == null) {
    throw new Error(`There is no ${kind} peer`)
  }

  return [binary]
}

/** The address at which the dialer's end of the link reaches a listener */
async function behind (link: Link, multiaddr: string): Promise<string> {
  const [, , , , port, ...rest] = multiaddr.split('/')
  const { host, port: dialPort } = await link.dialAddress(Number(port))

  return ['', 'ip4', host, 'tcp', dialPort, ...rest].join('/')
}
