import { scriptPath } from '../lab/script-path.ts'
import { isNative } from './cells.ts'
import { runDialer, startListener } from './peer-process.ts'
import type { Binaries } from './binaries.ts'
import type { Cell, PeerKind } from './cells.ts'
import type { ListenerProcess, Outcome } from './peer-process.ts'
import type { Link } from '../lab/link/link.ts'

export interface RunOptions {
  /** Dials per cell, one after another */
  dials: number

  /** The size of the echo */
  bytes: number

  /** What one dial may take, in ms; 10 s by default */
  dialTimeout?: number

  /** What all dials of a cell may take, in ms; a minute by default */
  cellTimeout?: number

  /** Cells at a time; 1 where time matters */
  concurrency: number

  binaries: Binaries
  signal: AbortSignal
  onCell(run: CellRun, ms: number): void
}

export interface CellRun {
  cell: Cell
  outcomes: Outcome[]
}

const DIAL_TIMEOUT = 10_000

const CELL_TIMEOUT = 60_000

/**
 * Dials every cell over the link. A listener is one process for all of its
 * cells, a dialer is one for each.
 */
export async function runCells (link: Link, cells: Cell[], options: RunOptions): Promise<CellRun[]> {
  const listeners = new Map<string, Promise<ListenerProcess>>()

  async function listenerFor (cell: Cell): Promise<ListenerProcess> {
    const key = listenerOf(cell)
    const listener = listeners.get(key) ?? startListener(link.commandAt('listener', listenCommand(cell, link, options)), options.signal)
    listeners.set(key, listener)

    return listener
  }

  async function run (cell: Cell): Promise<CellRun> {
    const { multiaddr } = await listenerFor(cell)
    const command = dialCommand(cell, await behind(link, multiaddr), options)
    const start = performance.now()
    const outcomes = await runDialer(link.commandAt('dialer', command), options.dials, options.cellTimeout ?? CELL_TIMEOUT, options.signal)
    const result = { cell, outcomes }
    options.onCell(result, performance.now() - start)

    return result
  }

  try {
    return await pooled(cells, options.concurrency, run)
  } finally {
    // one that did not start has ended
    await Promise.all([...listeners.values()].map(async listener => listener.then(async started => started.close(), () => {})))
  }
}

function listenCommand ({ listener, security, listenerOptimism, gater, peerStore }: Cell, link: Link, { binaries }: RunOptions): string[] {
  return [
    ...program(listener, binaries), 'listen',
    '--security', security,
    '--host', link.listenHost,
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

function dialCommand ({ dialer, optimism, identify, security, streams, peerStore }: Cell, address: string, { binaries, dials, bytes, dialTimeout = DIAL_TIMEOUT }: RunOptions): string[] {
  return [
    ...program(dialer, binaries), 'dial', address,
    '--security', security,
    '--count', `${dials}`,
    '--bytes', `${bytes}`,
    '--timeout-ms', `${dialTimeout}`,
    ...(optimism == null ? [] : ['--optimism', optimism]),
    ...(identify === true ? ['--identify'] : []),
    ...(streams == null ? [] : ['--streams', `${streams}`]),
    ...peerStoreOf(dialer, peerStore)
  ]
}

function program (kind: PeerKind, binaries: RunOptions['binaries']): string[] {
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

async function pooled <T, R> (items: T[], concurrency: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()

  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const [i, item] of queue) {
      results[i] = await run(item)
    }
  }))

  return results
}
