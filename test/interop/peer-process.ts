import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { pEvent } from 'p-event'

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

export interface ListenerProcess {
  multiaddr: string

  /** Resolves when the process has ended */
  close(): Promise<void>
}

/** How long a listener may take to come up, in ms: js has a hundred packages to load */
const LISTEN_TIMEOUT = 20_000

/**
 * Starts the listener of a peer. It ends with this process, however that ends.
 *
 * @throws {Error} with what the process complained of, if it does not listen
 */
export async function startListener ([file, ...args]: string[], signal: AbortSignal): Promise<ListenerProcess> {
  const listener = execa(file, args, { reject: false, cancelSignal: signal })

  const line = await Promise.race([
    pEvent(createInterface(listener.stdout), 'line', { timeout: LISTEN_TIMEOUT }),
    listener.then(({ stderr, shortMessage }) => { throw new Error(`${shortMessage}\n${stderr}`) })
  ])

  return {
    multiaddr: JSON.parse(String(line)).multiaddr,
    async close () {
      // what tells every kind of peer to leave
      listener.stdin.end()
      await listener
    }
  }
}

/**
 * Runs the dialer of a peer to its end. There is an outcome for every dial,
 * also for those that a process that ended too soon did not make.
 *
 * @param command - its command line
 * @param count - how many dials that is to make
 * @param timeout - after how many ms it is killed
 * @param signal - ends it before
 */
export async function runDialer (command: string[], count: number, timeout: number, signal: AbortSignal): Promise<Outcome[]> {
  const [file, ...args] = command
  const dialer = await execa(file, args, { reject: false, cancelSignal: signal, lines: true, timeout, killSignal: 'SIGKILL' })
  signal.throwIfAborted()

  const outcomes = dialer.stdout.map((line): Outcome => JSON.parse(line))
  const error = dialer.timedOut ? `the dialer was killed after ${timeout} ms` : [dialer.shortMessage, ...dialer.stderr].join('\n')

  while (outcomes.length < count) {
    outcomes.push({ ok: false, error })
  }

  return outcomes
}
