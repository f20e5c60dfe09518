import { EventEmitter } from 'node:events'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { pEvent } from 'p-event'

/** A process that prints lines of JSON, reads lines, and ends when its stdin does. Peers in every language are such programs */
export interface Program {
  pid?: number

  /** All that it has printed, the oldest first */
  lines: any[]

  /** Resolves to the exit code, or the name of the signal that ended it */
  ended: Promise<number | string | undefined>

  /** How it ended and what it complained of; empty while it runs */
  complaint(): string

  /**
   * The next line that nobody was given yet
   *
   * @throws {Error} with the complaint, if the process ends first, or after so many ms
   */
  nextLine(timeout?: number): Promise<any>

  /** The first such line, also one that is over. Throws as `nextLine` does */
  until(predicate: (line: any) => boolean, timeout?: number): Promise<any>
  write(line: string): void
  kill(signal?: NodeJS.Signals): void

  /** Closes its stdin, and resolves when it has ended */
  end(): Promise<void>
}

export interface ProgramOptions {
  /** Ends it */
  signal?: AbortSignal

  /** After so many ms it is killed */
  timeout?: number
  env?: Record<string, string>

  /** By default the last of it is part of the complaint */
  stderr?: 'inherit' | 'ignore'
}

/** What has been told to end and does not is killed after this, in ms */
const END_TIMEOUT = 3_000

/** Runs a program. It does not outlive this process */
export function runProgram ([file, ...args]: string[], { signal, timeout, env, stderr }: ProgramOptions = {}): Program {
  const subprocess = execa(file, args, { reject: false, buffer: false, stderr: stderr ?? 'pipe', timeout, killSignal: 'SIGKILL', env })
  const told = new EventEmitter().setMaxListeners(0)
  const lines: any[] = []
  let taken = 0
  let errors = ''
  let end: string | undefined

  createInterface({ input: subprocess.stdout }).on('line', line => {
    lines.push(JSON.parse(line))
    told.emit('change')
  })
  subprocess.stderr?.on('data', data => { errors = `${errors}${data}`.slice(-2_000) })
  // it may end while we write
  subprocess.stdin.on('error', () => {})

  const ended = subprocess.then(({ exitCode, signal, shortMessage }) => {
    end = `${file} has ended: ${shortMessage ?? `code ${exitCode}`}\n`
    told.emit('change')

    return signal ?? exitCode
  })

  /** It may have to end programs of its own before */
  async function endSoon (): Promise<void> {
    subprocess.stdin.end()
    const timer = setTimeout(() => { subprocess.kill('SIGKILL') }, END_TIMEOUT)
    await ended
    clearTimeout(timer)
  }

  signal?.addEventListener('abort', endSoon)
  void ended.then(() => { signal?.removeEventListener('abort', endSoon) })

  async function find (look: () => any, timeout = Infinity): Promise<any> {
    const deadline = performance.now() + timeout

    for (let found = look(); ; found = look()) {
      if (found !== undefined) {
        return found
      }

      if (end != null) {
        throw new Error(`${end}${errors}`)
      }

      try {
        await pEvent(told, 'change', { timeout: Math.max(0, deadline - performance.now()) })
      } catch (cause) {
        throw new Error(`${file} said nothing within ${timeout} ms: ${errors}`, { cause })
      }
    }
  }

  return {
    pid: subprocess.pid,
    lines,
    ended,
    complaint: () => end == null ? '' : `${end}${errors}`,
    async nextLine (timeout) {
      const index = taken++

      return find(() => lines[index], timeout)
    },
    until: async (predicate, timeout) => find(() => lines.find(predicate), timeout),
    write: line => { subprocess.stdin.write(`${line}\n`) },
    kill: signal => { subprocess.kill(signal ?? 'SIGKILL') },
    end: endSoon
  }
}
