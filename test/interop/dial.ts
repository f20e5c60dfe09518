import { openLink } from '../lab/link/open-link.ts'
import { runProgram } from '../lab/process/program.ts'
import { scriptPath } from '../lab/script-path.ts'
import { isNative, nameOf } from './cells.ts'
import type { Dial, PeerKind } from './cells.ts'
import type { Link } from '../lab/link/link.ts'
import type { Binaries } from '../lab/peers/build.ts'
import type { Program } from '../lab/process/program.ts'
import type { Verdict } from '../lab/suite.ts'

/** A line of a dialer's output; README.md describes it */
export interface Outcome {
  ok: boolean

  /** From the start of the dial, in ms */
  firstByteMs?: number
  totalMs?: number

  /** The first connection was refused, see the transport's `tcp:redial` */
  redialed?: boolean
  error?: string
}

export interface DialOptions {
  /** Dials, one after another */
  count: number

  /** The size of the echo */
  bytes: number

  /** What one dial may take, in ms */
  timeout: number
}

/** How long a listener may take to come up, in ms: js has a hundred packages to load */
const LISTEN_TIMEOUT = 20_000

/** Peers at both ends of a link. A listener is one process for all cells, a dialer is one for each */
export class Peers {
  readonly #binaries: Binaries
  readonly #link: Promise<Link>
  readonly #listeners = new Map<string, Promise<{ program: Program, multiaddr: string }>>()

  /** To a link whose delay, one way, is in ms */
  constructor (binaries: Binaries, delay: number) {
    this.#binaries = binaries
    this.#link = openLink({ delay })
    this.#link.catch(() => {})
  }

  /** There is an outcome for every dial, also for those that a process that ended too soon did not make */
  async dial (cell: Dial, options: DialOptions, signal: AbortSignal): Promise<{ outcomes: Outcome[], link: Link }> {
    const link = await this.#link
    const { multiaddr } = await this.#listenerFor(cell, link)
    const [, , , , port, ...rest] = multiaddr.split('/')
    const { host, port: dialPort } = await link.dialAddress(Number(port))
    const command = this.#dialCommand(cell, ['', 'ip4', host, 'tcp', dialPort, ...rest].join('/'), options)
    const dialer = runProgram(link.commandAt('dialer', command), { signal, timeout: Math.max(60_000, options.timeout * options.count) })

    await dialer.ended
    signal.throwIfAborted()

    const outcomes: Outcome[] = dialer.lines

    while (outcomes.length < options.count) {
      outcomes.push({ ok: false, error: dialer.complaint() })
    }

    return { outcomes, link }
  }

  async close (): Promise<void> {
    // one that did not start has ended
    await Promise.all([...this.#listeners.values()].map(async listener => listener.then(async ({ program }) => program.end(), () => {})))
    await this.#link.then(async link => link.close(), () => {})
  }

  async #listenerFor ({ listener, security, listenerOptimism, gater, peerStore }: Dial, link: Link): Promise<{ multiaddr: string }> {
    const command = [
      ...this.#program(listener), 'listen',
      '--security', security,
      '--host', link.listenHost,
      // 1,000 at once are more than its library takes by default
      ...(listener === 'rust' ? ['--streams', '4096'] : []),
      ...(listenerOptimism == null ? [] : ['--optimism', listenerOptimism]),
      ...(gater == null ? [] : ['--gater', `${gater}`]),
      ...peerStoreOf(listener, peerStore)
    ]
    const key = command.join(' ')
    const started = this.#listeners.get(key) ?? start(link.commandAt('listener', command))
    this.#listeners.set(key, started)

    return started
  }

  #dialCommand ({ dialer, optimism, identify, security, streams, peerStore }: Dial, address: string, { count, bytes, timeout }: DialOptions): string[] {
    return [
      ...this.#program(dialer), 'dial', address,
      '--security', security,
      '--count', `${count}`,
      '--bytes', `${bytes}`,
      '--timeout-ms', `${timeout}`,
      ...(optimism == null ? [] : ['--optimism', optimism]),
      ...(identify === true ? ['--identify'] : []),
      ...(streams == null ? [] : ['--streams', `${streams}`]),
      ...peerStoreOf(dialer, peerStore)
    ]
  }

  #program (kind: PeerKind): string[] {
    return isNative(kind) ? [this.#binaries[kind] ?? ''] : [process.execPath, scriptPath(import.meta.url, 'js-peer'), '--stack', kind]
  }
}

async function start (command: string[]): Promise<{ program: Program, multiaddr: string }> {
  const program = runProgram(command)
  const { multiaddr } = await program.nextLine(LISTEN_TIMEOUT)

  return { program, multiaddr }
}

function peerStoreOf (kind: PeerKind, peerStore: number | undefined): string[] {
  return peerStore == null || isNative(kind) ? [] : ['--peer-store', `${peerStore}`]
}

/** Every dial has to succeed, and at the first attempt */
export function verdictOf (outcomes: Outcome[]): Required<Pick<Verdict, 'summary' | 'complaints'>> {
  const failed = outcomes.filter(({ ok }) => !ok)
  const redialed = outcomes.filter(({ redialed }) => redialed === true).length

  return {
    summary: `${outcomes.length - failed.length} of ${outcomes.length}`,
    complaints: [
      ...failed.length === 0 ? [] : [`${failed.length} dials failed: ${[...new Set(failed.map(({ error }) => error))].join('; ')}`],
      ...redialed === 0 ? [] : [`${redialed} dials were refused at first and dialed again`]
    ]
  }
}

/** Those whose peers are here */
export function possible (dials: Dial[], binaries: Binaries): Array<{ dial: Dial, name: string }> {
  return dials.filter(({ dialer, listener }) => [dialer, listener].every(kind => !isNative(kind) || binaries[kind] != null)).map(dial => ({ dial, name: nameOf(dial) }))
}
