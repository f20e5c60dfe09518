import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux as stockYamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
import { setMaxListeners } from 'main-event'
import type { Libp2p, ServiceMap } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'
import type { TCPOptions } from 'libp2p-fast-tcp'

/** `mixed`: every second node is official, and every other one decorated */
export type Mode = 'official' | 'plain' | 'decorated' | 'mixed'

/** What a program has found out, the same in every mode: counts and hashes of what was delivered */
export type Facts = Record<string, string | number>

export type Program = (lab: Lab) => Promise<Facts>

type Stack = Required<Pick<Libp2pOptions, 'transports' | 'connectionEncrypters' | 'streamMuxers'>>

/** Options of TCP that both transports have */
type TCPInit = Pick<TCPOptions, 'dialOpts'>

const STACKS: Record<Exclude<Mode, 'mixed'>, (tcpInit?: TCPInit) => Stack> = {
  official: (tcpInit) => ({ transports: [officialTcp(tcpInit)], connectionEncrypters: [noise()], streamMuxers: [stockYamux()] }),
  plain: (tcpInit) => ({ transports: [tcp(tcpInit)], connectionEncrypters: [noise()], streamMuxers: [stockYamux()] }),
  decorated: (tcpInit) => ({ transports: [tcp(tcpInit)], connectionEncrypters: [optimistic(noise())], streamMuxers: [yamux()] })
}

/** What a program works with: nodes of one mode, a clock, and what stops at the end */
export class Lab {
  readonly mode: Mode
  readonly #isShort: boolean
  readonly #stops: Array<() => Promise<unknown> | unknown> = []
  #stacks = 0
  wall = 0
  cpu = 0

  constructor (mode: Mode, isShort: boolean) {
    this.mode = mode
    this.#isShort = isShort
  }

  /** How much to do */
  amount (whole: number, short: number): number {
    return this.#isShort ? short : whole
  }

  /** TCP, Noise and yamux of the next node */
  stack (tcpInit?: TCPInit): Stack {
    const turn = this.#stacks++ % 2 === 0 ? 'official' : 'decorated'

    return STACKS[this.mode === 'mixed' ? turn : this.mode](tcpInit)
  }

  /** A started node that stops with the program. `transports` of the options are beside TCP, not in its place. */
  async node <T extends ServiceMap = ServiceMap> ({ tcp, ...options }: Libp2pOptions<T> & { tcp?: TCPInit } = {}): Promise<Libp2p<T>> {
    const stack = this.stack(tcp)
    const node = await createLibp2p<T>({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      ...stack,
      ...options,
      transports: [...stack.transports, ...options.transports ?? []],
      connectionManager: {
        inboundConnectionThreshold: 10_000,
        maxIncomingPendingConnections: 1_000,
        // a crowded machine makes nobody fail
        dialTimeout: 60_000,
        addressDialTimeout: 60_000,
        inboundUpgradeTimeout: 60_000,
        ...options.connectionManager
      }
    })

    this.defer(async () => node.stop())

    return node
  }

  /** Call `stop` when the program has ended, the last one first */
  defer (stop: () => Promise<unknown> | unknown): void {
    this.#stops.push(stop)
  }

  /** The time that a part of a program takes, on the clock and of the processor */
  async measure <T> (part: () => Promise<T>): Promise<T> {
    const start = performance.now()
    const cpu = process.cpuUsage()
    const result = await part()
    const { user, system } = process.cpuUsage(cpu)

    this.wall += performance.now() - start
    this.cpu += (user + system) / 1_000

    return result
  }

  async stop (): Promise<void> {
    for (const stop of this.#stops.reverse()) {
      await stop()
    }
  }
}

/** @param ms - until the program has failed */
export function deadline (ms: number): AbortSignal {
  const signal = AbortSignal.timeout(ms)
  setMaxListeners(Infinity, signal)

  return signal
}

/** Polls a condition that has no event. Fails after a minute, or after the given time in ms */
export async function until (isReady: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const signal = deadline(ms)

  while (!await isReady()) {
    signal.throwIfAborted()
    await new Promise(resolve => { setTimeout(resolve, 20) })
  }
}
